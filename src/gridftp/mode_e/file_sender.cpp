// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/file_sender.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

struct FileSender::State {
  State(boost::asio::io_context& io, std::vector<DataConnection> over, SendRequest what)
      : request(std::move(what)), connections(std::move(over)), running(connections.size()), result(io) {
    for (const DataConnection& connection : connections) {
      if (addresses.size() <= connection.address) addresses.resize(connection.address + 1);
      ++addresses[connection.address].connections;
    }
  }

  void finish(Status status);
  Task<Status> send_blocks(StreamIo& connection);
  Task<Status> send_end(const DataConnection& connection);

  struct Address {
    std::size_t connections = 0;
    std::size_t ended = 0;  // have sent their end of data
  };
  const SendRequest request;
  const std::vector<DataConnection> connections;
  std::vector<Address> addresses;
  std::size_t running;  // of the connections
  Promise<Status> result;
};

void FileSender::State::finish(Status status) {
  if (result.is_set()) return;
  const bool failed = !status;
  result.set(std::move(status));
  if (failed)
    for (const DataConnection& each : connections) each.io->abort();
}

/// A block goes with its header in front, in one system call. A connection takes no memory before the source has bytes
/// for it.
Task<Status> FileSender::State::send_blocks(StreamIo& connection) {
  std::vector<std::byte> room;
  while (!result.is_set()) {
    make_room(room, *request.source, request.block_bytes, kBlockHeaderBytes);
    UDTCAT_CO_TRY(const auto block, co_await request.source->next(std::span(room).subspan(kBlockHeaderBytes)));
    if (!block) break;
    const std::size_t bytes = block->bytes();
    BlockHeader header;
    header.count = bytes;
    header.offset = block->begin - request.offset_on_wire;
    std::ranges::copy(encode(header), room.begin());
    UDTCAT_CO_CHECK(co_await connection.write(std::span(room).first(kBlockHeaderBytes + bytes)));
    request.sent(bytes);
  }
  co_return Status{};
}

Task<Status> FileSender::State::send_end(const DataConnection& connection) {
  Address& address = addresses[connection.address];
  BlockHeader header;
  header.descriptor = BlockHeader::kEod;
  if (++address.ended == address.connections) {
    header.descriptor |= BlockHeader::kEof;
    header.offset = address.connections;
  }
  const auto bytes = encode(header);
  co_return co_await connection.io->write(bytes);
}

FileSender::FileSender(boost::asio::io_context& io, std::vector<DataConnection> connections, SendRequest request)
    : state_(std::make_shared<State>(io, std::move(connections), std::move(request))) {
  for (const DataConnection& connection : state_->connections)
    boost::asio::co_spawn(
        io,
        [state = state_, connection]() -> Task<void> {
          auto status = co_await state->send_blocks(*connection.io);
          if (status && !state->result.is_set()) status = co_await state->send_end(connection);
          if (--state->running == 0 || !status) state->finish(std::move(status));
        },
        rethrow);
}

FileSender::~FileSender() { state_->finish(udtcat::fail(Errc::interrupted, "send a file", "nobody waits for it")); }

Task<Status> FileSender::result() {
  const auto state = state_;
  co_return co_await state->result.get();
}

void FileSender::fail(Error why) { state_->finish(tl::unexpected(std::move(why))); }

}  // namespace udtcat::gridftp
