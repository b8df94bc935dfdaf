#include "gridftp/server/listing_source.hpp"

#include <algorithm>

#include "gridftp/files/disk_threads.hpp"

namespace udtcat::gridftp {

Task<Status> ListingSource::fill(std::size_t bytes) {
  while (walk_ && text_.size() < bytes) {
    const auto lines = co_await on_disk(io_, [this]() -> Result<std::optional<std::string>> {
      const auto slice = walk_->next(kSliceEntries);
      if (!slice) return tl::unexpected(slice.error());
      if (slice->empty()) return std::nullopt;
      return listing_text(*slice, form_, read_only_);
    });
    if (!lines) co_return tl::unexpected(lines.error());
    if (!*lines) walk_.reset();
    text_ += lines->value_or("");
  }
  co_return Status{};
}

Task<Result<std::optional<ByteRange>>> ListingSource::next(std::span<std::byte> into) {
  while (std::exchange(busy_, true)) co_await free_.wait();
  const auto filled = co_await fill(into.size());
  const ByteRange block{given_, given_ + std::min(text_.size(), into.size())};
  if (filled) {
    std::ranges::copy(std::as_bytes(std::span(text_)).first(block.bytes()), into.begin());
    text_.erase(0, block.bytes());
    given_ = block.end;
  }
  busy_ = false;
  free_.notify();
  if (!filled) co_return tl::unexpected(filled.error());
  co_return block.bytes() > 0 ? std::optional(block) : std::nullopt;
}

}  // namespace udtcat::gridftp
