// SPDX-License-Identifier: Apache-2.0
/// Directories as FTP clients want to read them.  spec: RFC 3659 §7 (MLSD, MLST), RFC 959 (NLST, LIST)
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/units.hpp>

#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/listed_entries.hpp"
#include "gridftp/mode_e/block_source.hpp"
#include "gridftp/server/served_root.hpp"

namespace udtcat::gridftp {

enum class ListingFormat { facts, names, long_lines };

/// "20261122064500", in UTC, as MDTM and the fact Modify have it.
[[nodiscard]] std::string time_text(std::int64_t seconds);
/// "Type=file;Size=20;Modify=20261122064500;Perm=r;UNIX.mode=0644; name". A name with a line end, which no line can
/// carry, is written with '?' in its place.
[[nodiscard]] std::string facts_line(const FileFacts& facts, bool read_only);
/// A line each, ended by CR LF. A name with a line end is left out, but for long lines, which are for people.
/// now   seconds since 1970: long lines have the time of a file that is not older than half a year, else its year
[[nodiscard]] std::string listing_text(std::span<const FileFacts> all, ListingFormat form, bool read_only,
                                       std::int64_t now = 0);
/// Names with a line end, which listing_text() leaves out, but for long lines.
[[nodiscard]] std::size_t with_line_end(std::span<const FileFacts> all, ListingFormat form);

/// A directory's listing as data to be sent, no more of it in memory than goes out next.
/// Names are in order within a slice; a directory of one slice is in order altogether.
/// Threads: confined to the io_context thread; several connections may ask at a time.
class ListingSource final : public BlockSource {
 public:
  static constexpr std::size_t kSliceEntries = 512;      // guess: a millisecond or two of a disk thread
  static constexpr std::size_t kBlockBytes = 64 * kKiB;  // guess: a slice

  ListingSource(boost::asio::io_context& io, DirectoryWalk walk, ListingFormat form, bool read_only,
                std::int64_t now = 0)
      : io_(io), walk_(std::move(walk)), form_(form), read_only_(read_only), now_(now), free_(io) {}
  /// Of a file, that file.
  ListingSource(boost::asio::io_context& io, const FileFacts& file, ListingFormat form, bool read_only,
                std::int64_t now = 0)
      : io_(io),
        form_(form),
        read_only_(read_only),
        now_(now),
        text_(listing_text({&file, 1}, form, read_only, now)),
        missing_{.with_line_end = with_line_end({&file, 1}, form)},
        free_(io) {}
  Task<Result<std::optional<files::ByteRange>>> next(std::span<std::byte> into) override;
  [[nodiscard]] std::size_t ahead(std::size_t most) const override {
    return std::min(most, walk_ ? kBlockBytes : text_.size());
  }
  [[nodiscard]] bool is_reading() const override { return busy_; }
  /// Names that the listing lacks so far.
  [[nodiscard]] const MissingNames& missing() const { return missing_; }

 private:
  [[nodiscard]] Task<Status> fill(std::size_t bytes);

  boost::asio::io_context& io_;
  std::optional<DirectoryWalk> walk_;  // none: all of it is in text_
  const ListingFormat form_;
  const bool read_only_;
  const std::int64_t now_;
  std::string text_;  // the next of it
  MissingNames missing_;
  std::uint64_t given_ = 0;  // before text_
  bool busy_ = false;        // one next() reads the directory
  AsyncCondition free_;
};

}  // namespace udtcat::gridftp
