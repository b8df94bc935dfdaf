// SPDX-License-Identifier: Apache-2.0
/// The bytes of a file that have come, as restart markers and REST have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

namespace udtcat::files {

/// From `begin` up to, and not including, `end`, as Globus counts (docs/spec/gridftp.md §5).
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] constexpr std::uint64_t bytes() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// A set of bytes, kept as ranges that neither overlap nor touch.
/// Threads: unsynchronised.
class ByteRanges {
 public:
  static constexpr std::size_t kMaxRanges = 65'536;  // guess: 5 MB; every other block of 64 MiB in 8 TiB

  /// Empty ranges change nothing.  errors: Errc::protocol_violated beyond kMaxRanges
  [[nodiscard]] Status add(ByteRange range);
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::size_t size() const { return ranges_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool contains(ByteRange range) const;
  /// Some byte of it is there.
  [[nodiscard]] bool touches(ByteRange range) const;
  /// How far it goes without a gap from byte `from` on: `from` itself if that is missing.
  [[nodiscard]] std::uint64_t contiguous_from(std::uint64_t from) const;
  /// Where the last range ends; 0 where there are none.
  [[nodiscard]] std::uint64_t end() const { return ranges_.empty() ? 0 : ranges_.rbegin()->second; }
  /// The ranges that are missing from `whole`, in order.
  [[nodiscard]] std::vector<ByteRange> missing_from(ByteRange whole) const;
  [[nodiscard]] std::vector<ByteRange> ranges() const;

  /// "0-4096,8192-12288"; empty where there are none.
  [[nodiscard]] std::string to_text() const;
  /// The same, spaces allowed around the commas. Total.  errors: Errc::protocol_violated
  [[nodiscard]] static Result<ByteRanges> parse(std::string_view text);

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin to end
  std::uint64_t bytes_ = 0;
};

}  // namespace udtcat::files
