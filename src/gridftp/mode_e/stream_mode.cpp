// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/stream_mode.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "lib/core/try.hpp"

namespace udtcat::gridftp {

Task<Status> receive_stream_mode(StreamIo& from, BlockSink& sink, files::ByteRanges& have,
                                 std::optional<files::ByteRange> expected) {
  std::vector<std::byte> piece;
  std::uint64_t offset = have.contiguous_from(0);
  for (;;) {
    if (piece.empty()) {
      co_await from.wait_readable();  // before there is memory for it
      piece.resize(BlockSink::kPieceBytes);
    }
    UDTCAT_CO_TRY(const auto taken, from.take(piece));
    if (!taken) {
      co_await from.wait_readable();
      continue;
    }
    const std::size_t bytes = *taken;
    if (bytes == 0) break;
    if (expected && (offset > expected->end || bytes > expected->end - offset))
      co_return fail(Errc::protocol_violated, "receive from " + from.name(), "more comes than the file has");
    UDTCAT_CO_CHECK(co_await sink.store(offset, std::span(piece).first(bytes)));
    UDTCAT_CO_CHECK(have.add({offset, offset + bytes}));
    offset += bytes;
  }
  if (expected && offset < expected->end)
    co_return fail(Errc::connection_broken, "receive from " + from.name(),
                   fmt::format("it ended after {} of {} bytes", offset, expected->end));
  co_return Status{};
}

Task<Status> send_stream_mode(StreamIo& to, const SendRequest& request) {
  std::vector<std::byte> piece;
  for (;;) {
    make_room(piece, *request.source, request.block_bytes);
    UDTCAT_CO_TRY(const auto block, co_await request.source->next(piece));
    if (!block) break;
    const std::size_t bytes = block->bytes();
    UDTCAT_CO_CHECK(co_await to.write(std::span(piece).first(bytes)));
    request.sent(bytes);
  }
  co_return co_await to.finish();
}

Task<Status> await_end(StreamIo& of) {
  std::array<std::byte, 1024> unwanted{};
  for (;;) {
    UDTCAT_CO_TRY(const auto taken, of.take(unwanted));
    if (!taken) co_await of.wait_readable();
    if (taken == 0U) co_return Status{};
  }
}

}  // namespace udtcat::gridftp
