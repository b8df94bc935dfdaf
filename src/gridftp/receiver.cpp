#include "gridftp/receiver.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "core/log.hpp"
#include "gridftp/promise.hpp"
#include "gridftp/stream_io.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kPieceBytes = 262'144;  // guess: a block of Globus' server

}  // namespace

struct Receiver::State {
  State(boost::asio::io_context& context, std::optional<ByteRange> expected, Store how)
      : io(context), store(std::move(how)), file(expected), result(context) {}

  void finish(Status status);
  Task<Status> receive(StreamIo& connection);
  Task<Status> receive_payload(StreamIo& connection, BlockHeader header);

  boost::asio::io_context& io;
  const Store store;
  IncomingFile file;
  Promise<Status> result;
  std::list<std::shared_ptr<StreamIo>> connections;
  std::uint64_t received_bytes = 0;
  std::vector<std::byte> piece = std::vector<std::byte>(kPieceBytes);  // between two waits, of whoever reads
};

void Receiver::State::finish(Status status) {
  if (result.is_set()) return;
  result.set(std::move(status));
  for (const auto& connection : connections) connection->abort();
}

/// Blocks up to the end of data. A connection that says nothing at all is not an error.
Task<Status> Receiver::State::receive(StreamIo& connection) {
  for (bool first = true; !result.is_set(); first = false) {
    std::array<std::byte, kBlockHeaderBytes> bytes{};
    const auto read = co_await connection.read(bytes);
    if (first && (!read || *read < bytes.size())) {
      core::log().info("{}: closed before it said anything", connection.name());
      co_return Status{};
    }
    if (!read) co_return tl::unexpected(read.error());
    if (*read < bytes.size())
      co_return udtcat::fail(Errc::connection_broken, "receive from " + connection.name(),
                             "it ended before its end of data");
    const BlockHeader header = decode_block_header(bytes);
    if (auto status = file.on_header(header); !status) co_return status;
    if (auto status = co_await receive_payload(connection, header); !status) co_return status;
    if (header.ends_data()) co_return file.on_end_of_data();
    if (header.ends_connection())
      co_return udtcat::fail(Errc::protocol_violated, "receive from " + connection.name(),
                             "it closes before its end of data");
    co_await boost::asio::post(io, boost::asio::use_awaitable);  // the others have their turn
  }
  co_return Status{};
}

Task<Status> Receiver::State::receive_payload(StreamIo& connection, BlockHeader header) {
  ByteRange left{header.offset, header.offset + header.payload_bytes()};
  while (left.begin < left.end) {
    const auto want = std::span(piece).first(std::min<std::uint64_t>(left.bytes(), piece.size()));
    const auto taken = connection.take(want);
    if (!taken) co_return tl::unexpected(taken.error());
    if (!*taken) {
      co_await connection.wait_readable();
      continue;
    }
    if (**taken == 0)
      co_return udtcat::fail(Errc::connection_broken, "receive from " + connection.name(), "it ended within a block");
    if (auto stored = store(left.begin, want.first(**taken)); !stored) co_return stored;
    if (auto kept = file.on_stored({left.begin, left.begin + **taken}); !kept) co_return kept;
    left.begin += **taken;
    received_bytes += **taken;
  }
  co_return Status{};
}

Receiver::Receiver(boost::asio::io_context& io, std::optional<ByteRange> expected, Store store)
    : state_(std::make_shared<State>(io, expected, std::move(store))) {}

Receiver::~Receiver() { state_->finish(udtcat::fail(Errc::interrupted, "receive a file", "nobody waits for it")); }

void Receiver::take(std::unique_ptr<LocalStream> stream) {
  if (state_->result.is_set() || state_->connections.size() >= IncomingFile::kMostConnections) return;
  auto connection = std::make_shared<StreamIo>(std::move(stream));
  state_->connections.push_back(connection);
  boost::asio::co_spawn(
      state_->io,
      [state = state_, connection]() -> Task<void> {
        if (auto status = co_await state->receive(*connection); !status) state->finish(std::move(status));
        state->connections.remove(connection);
        if (state->file.ended()) state->finish(state->file.whole());
      },
      boost::asio::detached);
}

Task<Status> Receiver::result() {
  const auto state = state_;
  co_return co_await state->result.get();
}

void Receiver::fail(Error why) { state_->finish(tl::unexpected(std::move(why))); }
const IncomingFile& Receiver::file() const { return state_->file; }
std::uint64_t Receiver::received_bytes() const { return state_->received_bytes; }

}  // namespace udtcat::gridftp
