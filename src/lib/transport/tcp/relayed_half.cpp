// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/relayed_half.hpp"

#include <array>
#include <utility>

#include "lib/core/user_text.hpp"
#include "lib/transport/tcp/preface.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr std::chrono::seconds kRelayPatience{15};  // guess: the place's own 10 s, and a path's time

}  // namespace

RelayedHalf::RelayedHalf(boost::asio::io_context& io, const Endpoint& relay, const RelayToken& token,
                         const TransportOptions& options, Handler handler)
    : relay_(relay), token_(token), handler_(std::move(handler)), deadline_(io) {
  deadline_.expires_after(kRelayPatience);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) fail_with(socket_ ? "the other end says nothing there" : connecting_->silence());
  }));
  connecting_ = std::make_unique<SocketConnect>(
      io, relay, options, lifetime_.guard([this](Result<Socket> made) { on_connected(std::move(made)); }));
}

void RelayedHalf::on_connected(Result<Socket> made) {
  const auto done = std::move(connecting_);  // which is calling
  if (!made) return finish(tl::unexpected(made.error()));
  socket_ = std::move(*made);
  const auto bytes = encode({.type = PrefaceType::relay, .value = token_});
  const std::span<const std::byte> piece(bytes);
  // A new connection has room for so few.
  const Sent sent = send(*socket_, std::span(&piece, 1));
  if (sent.bytes != bytes.size()) return fail_with(core::errno_text(sent.errno_value));
  socket_->async_wait(Socket::wait_read, lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) finish(std::move(*socket_));
  }));
}

void RelayedHalf::fail_with(const std::string& cause) {
  finish(fail(Errc::cannot_reach, "wait by tcp at the relay " + relay_.to_string(), cause));
}

void RelayedHalf::finish(Result<Socket> result) {
  lifetime_.end();
  deadline_.cancel();
  handler_(std::move(result));
}

}  // namespace udtcat::transport::tcp
