/// A directory's listing on its way: as much of it in memory as goes out next.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/io_context.hpp>

#include "gridftp/coroutine/signal.hpp"
#include "gridftp/mode_e/block_source.hpp"
#include "gridftp/server/listing.hpp"
#include "gridftp/server/served_root.hpp"

namespace udtcat::gridftp {

/// Names are in order within a slice; a directory of one slice is in order altogether.
/// Threads: confined to the io_context thread; several connections may ask at a time.
class ListingSource final : public BlockSource {
 public:
  static constexpr std::size_t kSliceEntries = 512;   // guess: a millisecond or two of a thread for disks
  static constexpr std::size_t kBlockBytes = 65'536;  // guess: a slice

  ListingSource(boost::asio::io_context& io, DirectoryWalk walk, ListingForm form, bool read_only)
      : io_(io), walk_(std::move(walk)), form_(form), read_only_(read_only), free_(io) {}
  /// Of a file, that file.
  ListingSource(boost::asio::io_context& io, const FileFacts& file, ListingForm form, bool read_only)
      : io_(io), form_(form), read_only_(read_only), text_(listing_text({&file, 1}, form, read_only)), free_(io) {}
  Task<Result<std::optional<ByteRange>>> next(std::span<std::byte> into) override;
  [[nodiscard]] std::size_t ahead(std::size_t most) const override {
    return std::min(most, walk_ ? kBlockBytes : text_.size());
  }
  [[nodiscard]] bool is_reading() const override { return busy_; }

 private:
  [[nodiscard]] Task<Status> fill(std::size_t bytes);

  boost::asio::io_context& io_;
  std::optional<DirectoryWalk> walk_;  // none: all of it is in text_
  const ListingForm form_;
  const bool read_only_;
  std::string text_;         // the next of it
  std::uint64_t given_ = 0;  // before text_
  bool busy_ = false;        // somebody asks
  Signal free_;
};

}  // namespace udtcat::gridftp
