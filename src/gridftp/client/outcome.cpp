#include "gridftp/client/outcome.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace udtcat::gridftp {

namespace {

/// What the server cannot know better.
bool is_our_own(const Error& error) {
  switch (error.code) {
    case Errc::local_read_failed:
    case Errc::local_write_failed:
    case Errc::authentication_failed:
    case Errc::parameters_refused:
    case Errc::protocol_violated:
      return true;
    default:
      return false;
  }
}

}  // namespace

Task<Status> judge(RemoteServer& server, Status moved, std::shared_ptr<Promise<Status>> said) {
  if (!moved && !said->is_set()) {
    // Who breaks the data off mostly says why, and that tells more. If it was us, it is not asked.
    if (is_our_own(moved.error())) server.control().close();
    server.hear_last_word();
  }
  const Status server_says = co_await said->get();
  const bool ours = !moved && is_our_own(moved.error());
  if (!ours && !server_says && server_says.error().code == Errc::stream_refused) co_return server_says;
  if (!moved) co_return moved;
  co_return server_says;
}

ControlLink::Moved counter_of(SharedProgress progress) {
  return [progress = std::move(progress)] { return progress->bytes; };
}

MarkerHandler ignore_markers() {
  return [](const ByteRanges&) {};
}

Task<Status> receive_stream_mode(StreamIo& from, BlockSink& sink, ByteRanges& have, std::optional<ByteRange> expected) {
  std::vector<std::byte> piece;
  std::uint64_t offset = have.contiguous_from(0);
  for (;;) {
    if (piece.empty()) {
      co_await from.wait_readable();  // before there is memory for it
      piece.resize(262'144);          // guess: as a block of Globus' server
    }
    const auto taken = from.take(piece);
    if (!taken) co_return tl::unexpected(taken.error());
    if (!*taken) {
      co_await from.wait_readable();
      continue;
    }
    const std::size_t bytes = **taken;
    if (bytes == 0) break;
    if (expected && (offset > expected->end || bytes > expected->end - offset))
      co_return fail(Errc::protocol_violated, "receive from " + from.name(), "more comes than the file has");
    if (auto stored = co_await sink.store(offset, std::span(piece).first(bytes)); !stored) co_return stored;
    if (auto added = have.add({offset, offset + bytes}); !added) co_return added;
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
    const auto block = co_await request.source->next(piece);
    if (!block) co_return tl::unexpected(block.error());
    if (!*block) break;
    const std::size_t bytes = (*block)->bytes();
    if (auto written = co_await to.write(std::span(piece).first(bytes)); !written) co_return written;
    request.sent(bytes);
  }
  co_return co_await to.finish();
}

void run_transfer(boost::asio::io_context& io, Task<Status> transfer, TransferHandler handler) {
  boost::asio::co_spawn(
      io,
      [transfer = std::move(transfer), handler = std::move(handler)]() mutable -> Task<void> {
        handler(co_await std::move(transfer));
      },
      boost::asio::detached);
}

}  // namespace udtcat::gridftp
