// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/file_receiver.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

struct FileReceiver::State {
  State(boost::asio::io_context& context, IncomingFile what, std::shared_ptr<BlockSink> where)
      : io(context), sink(std::move(where)), file(std::move(what)), result(context) {}

  void finish(Status status);
  [[nodiscard]] Status status_at_end() const;
  Task<Status> receive(DataConnection connection);
  Task<Status> receive_payload(StreamIo& connection, BlockHeader header);
  [[nodiscard]] std::vector<std::byte> take_piece();

  boost::asio::io_context& io;
  const std::shared_ptr<BlockSink> sink;
  IncomingFile file;
  Promise<Status> result;
  std::list<std::shared_ptr<StreamIo>> running;
  std::vector<DataConnection> kept;  // have ended their data, and are open
  std::size_t in_the_middle = 0;     // connections that have brought bytes, and not their end of data
  std::uint64_t received_bytes = 0;
  std::vector<std::vector<std::byte>> pieces;  // unused: as many as were ever stored at a time
};

void FileReceiver::State::finish(Status status) {
  if (result.is_set()) return;
  if (!status) kept.clear();
  result.set(std::move(status));
  for (const auto& connection : running) connection->abort();
}

/// All ends that were said have come. Where a connection goes on nevertheless, too few were said.
Status FileReceiver::State::status_at_end() const {
  if (in_the_middle == 0) return file.whole();
  return udtcat::fail(Errc::protocol_violated, "receive a file in MODE E",
                      "it was said to end while a connection still brings bytes");
}

/// Blocks up to the end of data. A connection that says nothing at all, or only that it closes, is not an error; one
/// that breaks after its first byte, or with its session, is.
Task<Status> FileReceiver::State::receive(DataConnection from) {
  StreamIo& connection = *from.io;
  bool brought = false;
  for (bool first = true; !result.is_set(); first = false) {
    std::array<std::byte, kBlockHeaderBytes> bytes{};
    const std::size_t begun = first ? 1 : 0;
    const auto said = co_await connection.read(std::span(bytes).first(begun));
    // Anybody can connect by TCP and reset it; only the peer, or the session's end, resets a session's stream.
    if (!said && connection.in_session()) co_return tl::unexpected(said.error());
    if (!said || *said < begun) {
      core::log().info("{}: closed before it said anything", connection.name());
      co_return Status{};
    }
    UDTCAT_CO_TRY(const auto read, co_await connection.read(std::span(bytes).subspan(begun)));
    if (read < bytes.size() - begun)
      co_return udtcat::fail(Errc::connection_broken, "receive from " + connection.name(),
                             "it ended before its end of data");
    const BlockHeader header = decode_block_header(bytes);
    if (first && header.descriptor == BlockHeader::kClose && header.payload_bytes() == 0) co_return Status{};
    UDTCAT_CO_CHECK(file.on_header(header, from.address));
    if (header.payload_bytes() > 0 && !std::exchange(brought, true)) ++in_the_middle;
    UDTCAT_CO_CHECK(co_await receive_payload(connection, header));
    if (header.ends_data()) {
      if (brought) --in_the_middle;
      if (!header.ends_connection()) kept.push_back(from);
      co_return file.on_end_of_data(from.address);
    }
    if (header.ends_connection())
      co_return udtcat::fail(Errc::protocol_violated, "receive from " + connection.name(),
                             "it closes before its end of data");
    co_await boost::asio::post(io, boost::asio::use_awaitable);  // the others have their turn
  }
  co_return Status{};
}

std::vector<std::byte> FileReceiver::State::take_piece() {
  if (pieces.empty()) return std::vector<std::byte>(BlockSink::kPieceBytes);
  auto piece = std::move(pieces.back());
  pieces.pop_back();
  return piece;
}

/// A connection takes memory only once it has bytes.
Task<Status> FileReceiver::State::receive_payload(StreamIo& connection, BlockHeader header) {
  files::ByteRange left{header.offset, header.offset + header.payload_bytes()};
  while (left.begin < left.end) {
    auto piece = take_piece();
    const auto want = std::span(piece).first(std::min<std::uint64_t>(left.bytes(), piece.size()));
    auto taken = connection.take(want);
    Status stored;
    if (taken && taken->value_or(0) > 0) stored = co_await sink->store(left.begin, want.first(**taken));
    pieces.push_back(std::move(piece));
    UDTCAT_CO_TRY(const auto bytes_there, std::move(taken));
    if (!bytes_there) {
      co_await connection.wait_readable();
      continue;
    }
    const std::size_t bytes = *bytes_there;
    if (bytes == 0)
      co_return udtcat::fail(Errc::connection_broken, "receive from " + connection.name(), "it ended within a block");
    UDTCAT_CO_CHECK(stored);
    UDTCAT_CO_CHECK(file.on_stored({left.begin, left.begin + bytes}));
    left.begin += bytes;
    received_bytes += bytes;
  }
  co_return Status{};
}

FileReceiver::FileReceiver(boost::asio::io_context& io, IncomingFile file, std::shared_ptr<BlockSink> sink)
    : state_(std::make_shared<State>(io, std::move(file), std::move(sink))) {}

FileReceiver::~FileReceiver() {
  state_->finish(udtcat::fail(Errc::interrupted, "receive a file", "nobody waits for it"));
}

void FileReceiver::take(DataConnection connection) {
  if (state_->result.is_set() || state_->running.size() >= IncomingFile::kMaxConnections) return;
  state_->running.push_back(connection.io);
  boost::asio::co_spawn(
      state_->io,
      [state = state_, connection]() -> Task<void> {
        auto status = co_await state->receive(connection);
        state->running.remove(connection.io);
        if (!status) state->finish(std::move(status));
        if (state->file.ended()) state->finish(state->status_at_end());
      },
      rethrow);
}

Task<Status> FileReceiver::result() {
  const auto state = state_;
  co_return co_await state->result.get();
}

void FileReceiver::fail(Error why) { state_->finish(tl::unexpected(std::move(why))); }
std::vector<DataConnection> FileReceiver::release() { return std::exchange(state_->kept, {}); }
const IncomingFile& FileReceiver::file() const { return state_->file; }
std::uint64_t FileReceiver::received_bytes() const { return state_->received_bytes; }

}  // namespace udtcat::gridftp
