// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/block_source.hpp"

#include <algorithm>

#include "gridftp/disk/disk_threads.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

void make_room(std::vector<std::byte>& room, const BlockSource& source, std::size_t most, std::size_t front_bytes) {
  const std::size_t ahead = std::max<std::size_t>(1, source.ahead(most));  // a read of 0 bytes would not tell the end
  if (room.size() < front_bytes + ahead) room.resize(front_bytes + ahead);
}

Task<Result<std::optional<files::ByteRange>>> FileSource::next(std::span<std::byte> into) {
  while (first_ < ranges_.size() && ranges_[first_].begin >= ranges_[first_].end) ++first_;
  files::ByteRange block;
  if (first_ < ranges_.size()) {
    files::ByteRange& left = ranges_[first_];
    block = {left.begin, left.begin + std::min<std::uint64_t>(into.size(), left.bytes())};
    left.begin = block.end;  // before the wait: the next call gets the bytes behind
  }
  ++reading_;
  auto read_at = co_await on_disk(io_, [&]() -> Result<std::size_t> {
    auto read = file_.read_at(block.begin, into.first(block.bytes()));
    if (!read || (*read == into.size() && *read > 0)) return read;
    // The end of a range, or of the file, which has to be where its size said at open().
    const bool ended = *read < block.bytes();
    UDTCAT_CHECK(file_.has_its_size(ended ? std::optional(block.begin + *read) : std::nullopt));
    return read;
  });
  --reading_;
  UDTCAT_CO_TRY(const std::size_t bytes, std::move(read_at));
  if (bytes < block.bytes()) first_ = ranges_.size();
  block.end = block.begin + bytes;
  co_return block.bytes() > 0 ? std::optional(block) : std::nullopt;
}

std::size_t FileSource::ahead(std::size_t most) const {
  for (std::size_t i = first_; i < ranges_.size(); ++i)
    if (ranges_[i].begin < ranges_[i].end) return std::min<std::uint64_t>(most, ranges_[i].bytes());
  return 0;
}

Task<Result<std::optional<files::ByteRange>>> PipeSource::next(std::span<std::byte> into) {
  while (busy_) co_await free_.wait();
  if (ended_) co_return std::nullopt;
  busy_ = true;
  const auto got = co_await from_.read(into);
  busy_ = false;
  ended_ = !got || *got < into.size();
  free_.notify();
  if (!got) co_return fail(Errc::local_read_failed, got.error().what, got.error().cause);
  const files::ByteRange block{read_bytes_, read_bytes_ + *got};
  read_bytes_ = block.end;
  co_return block.bytes() > 0 ? std::optional(block) : std::nullopt;
}

}  // namespace udtcat::gridftp
