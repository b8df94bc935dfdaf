#include "gridftp/sender.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "gridftp/block_header.hpp"
#include "gridftp/promise.hpp"

namespace udtcat::gridftp {

BlockQueue::BlockQueue(std::vector<ByteRange> ranges, std::size_t block_bytes)
    : ranges_(std::move(ranges)), block_bytes_(block_bytes) {}

std::optional<ByteRange> BlockQueue::take() {
  while (next_ < ranges_.size()) {
    ByteRange& range = ranges_[next_];
    const ByteRange block{range.begin,
                          std::min(range.end, range.begin + std::min<std::uint64_t>(block_bytes_, range.bytes()))};
    range.begin = block.end;
    if (range.begin >= range.end) ++next_;
    if (block.bytes() > 0) return block;
  }
  return std::nullopt;
}

void BlockQueue::cut(std::uint64_t end) {
  for (ByteRange& range : ranges_) range = {std::min(range.begin, end), std::min(range.end, end)};
}

namespace {

/// What the connections of one transfer have in common.
struct Sending {
  Sending(boost::asio::io_context& io, SendRequest what, FetchBlock how, std::size_t connections)
      : request(std::move(what)),
        fetch(std::move(how)),
        queue(request.ranges, request.block_bytes),
        connection_count(connections),
        running(connections),
        result(io) {}

  const SendRequest request;
  const FetchBlock fetch;
  BlockQueue queue;
  const std::size_t connection_count;
  std::size_t running;
  std::size_t data_ended = 0;
  std::uint64_t sent_bytes = 0;
  Promise<Status> result;
};

/// A block with its header in front, in one piece: one system call.
Result<std::vector<std::byte>> framed_block(Sending& sending, ByteRange block) {
  std::vector<std::byte> bytes(kBlockHeaderBytes + block.bytes());
  const auto got = sending.fetch(block.begin, std::span(bytes).subspan(kBlockHeaderBytes));
  if (!got) return tl::unexpected(got.error());
  if (*got < block.bytes()) sending.queue.cut(block.begin + *got);
  bytes.resize(kBlockHeaderBytes + *got);
  const auto header = encode({.descriptor = 0, .count = *got, .offset = block.begin - sending.request.offset_on_wire});
  std::ranges::copy(header, bytes.begin());
  return bytes;
}

Task<Status> send_blocks(Sending& sending, StreamIo& connection) {
  while (!sending.result.is_set()) {
    const auto block = sending.queue.take();
    if (!block) break;
    const auto bytes = framed_block(sending, *block);
    if (!bytes) co_return tl::unexpected(bytes.error());
    if (auto written = co_await connection.write(*bytes); !written) co_return written;
    sending.sent_bytes += bytes->size() - kBlockHeaderBytes;
  }
  co_return Status{};
}

Task<Status> send_end(Sending& sending, StreamIo& connection) {
  const bool last = ++sending.data_ended == sending.connection_count;
  std::uint8_t descriptor = BlockHeader::kEod;
  if (last) descriptor |= BlockHeader::kEof;
  if (sending.request.close_connections) descriptor |= BlockHeader::kClose;
  const auto header =
      encode({.descriptor = descriptor, .count = 0, .offset = last ? sending.connection_count : std::uint64_t{0}});
  co_return co_await connection.write(header);
}

}  // namespace

Task<Result<std::uint64_t>> send_file(boost::asio::io_context& io,
                                      const std::vector<std::unique_ptr<StreamIo>>& connections, SendRequest request,
                                      FetchBlock fetch) {
  const auto sending = std::make_shared<Sending>(io, std::move(request), std::move(fetch), connections.size());
  for (const auto& connection : connections)
    boost::asio::co_spawn(
        io,
        [sending, &connections, own = connection.get()]() -> Task<void> {
          auto status = co_await send_blocks(*sending, *own);
          if (status && !sending->result.is_set()) status = co_await send_end(*sending, *own);
          --sending->running;
          if (status && sending->running > 0) co_return;
          const bool failed = !status;
          sending->result.set(std::move(status));
          if (failed)
            for (const auto& each : connections) each->abort();
        },
        boost::asio::detached);
  if (auto status = co_await sending->result.get(); !status) co_return tl::unexpected(std::move(status.error()));
  co_return sending->sent_bytes;
}

}  // namespace udtcat::gridftp
