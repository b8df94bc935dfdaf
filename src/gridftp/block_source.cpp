#include "gridftp/block_source.hpp"

#include <algorithm>

namespace udtcat::gridftp {

Task<Result<std::optional<ByteRange>>> FileSource::next(std::span<std::byte> into) {
  while (first_ < ranges_.size() && ranges_[first_].begin >= ranges_[first_].end) ++first_;
  if (first_ == ranges_.size()) co_return std::nullopt;
  ByteRange& left = ranges_[first_];
  const auto wanted = std::min<std::uint64_t>(into.size(), left.bytes());
  const auto got = file_.read_at(left.begin, into.first(wanted));
  if (!got) co_return tl::unexpected(got.error());
  const ByteRange block{left.begin, left.begin + *got};
  left.begin = block.end;
  if (*got < wanted) first_ = ranges_.size();
  co_return block.bytes() > 0 ? std::optional(block) : std::nullopt;
}

Task<Result<std::optional<ByteRange>>> PipeSource::next(std::span<std::byte> into) {
  while (busy_) co_await free_.wait();
  if (ended_) co_return std::nullopt;
  busy_ = true;
  const auto got = co_await from_.read(into);
  busy_ = false;
  ended_ = !got || *got < into.size();
  free_.notify();
  if (!got) co_return fail(Errc::local_read_failed, got.error().what, got.error().cause);
  const ByteRange block{read_bytes_, read_bytes_ + *got};
  read_bytes_ = block.end;
  co_return block.bytes() > 0 ? std::optional(block) : std::nullopt;
}

}  // namespace udtcat::gridftp
