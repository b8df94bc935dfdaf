/// Where the blocks of a file come from and go to: a file, at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <udtcat/result.hpp>

#include "bridge/descriptor.hpp"

namespace udtcat::gridftp {

/// A file opened for one transfer. Reads and writes go to the page cache, on the caller's thread.
/// Threads: unsynchronised.
class BlockStore {
 public:
  /// errors: Errc::local_read_failed
  [[nodiscard]] static Result<BlockStore> open_to_read(const std::string& path);
  /// What is written lies in PATH.part until publish(); what is there is kept, as a transfer may go on where another was cut. A
  /// device or pipe is written itself.  errors: Errc::local_write_failed
  [[nodiscard]] static Result<BlockStore> open_to_write(const std::string& path);

  /// Bytes in it, where it is a file that has a size.
  [[nodiscard]] std::optional<std::uint64_t> size() const;
  /// All of `into`, or up to the end of the file.  errors: Errc::local_read_failed
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const;
  /// errors: Errc::local_write_failed
  [[nodiscard]] Status write_at(std::uint64_t offset, std::span<const std::byte> from) const;
  /// It is whole, and exactly so long: on the disk, and under its own name.  errors: Errc::local_write_failed
  [[nodiscard]] Status publish(std::uint64_t bytes) const;

 private:
  BlockStore(bridge::Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}
  bridge::Descriptor descriptor_;
  std::string path_;        // under which it is open
  std::string publish_as_;  // empty: under that
};

}  // namespace udtcat::gridftp
