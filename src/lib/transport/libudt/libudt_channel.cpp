// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/libudt_channel.hpp"

#include <utility>

#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"

namespace udtcat::transport::libudt {

Result<std::unique_ptr<Channel>> make_channel(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime,
                                              Established established) {
  UDTCAT_CHECK(established.socket.make_blocking());
  auto connection = std::make_shared<LibudtConnection>(std::move(established));
  return std::make_unique<LibudtChannel>(io, std::move(runtime), std::move(connection));
}

LibudtChannel::LibudtChannel(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime,
                             std::shared_ptr<LibudtConnection> connection)
    : io_(io),
      connection_(std::move(connection)),
      receive_loop_(connection_),
      send_loop_(connection_, std::move(runtime)) {}

void LibudtChannel::async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) {
  UDTCAT_INVARIANT(least_bytes > 0 && least_bytes <= into.size(), "callers read what they know must come");
  receive_loop_.read({into, least_bytes, false, ReadCompletion(io_, lifetime_.guard(std::move(handler)))});
}

void LibudtChannel::async_read_some(std::span<std::byte> into, ReadSomeHandler handler) {
  UDTCAT_INVARIANT(!into.empty(), "callers have room for what they read");
  connection_->watch_its_end();
  receive_loop_.read({into, 1, true, ReadCompletion(io_, lifetime_.guard(std::move(handler)))});
}

void LibudtChannel::async_write(core::SharedBytes from, WriteHandler handler) {
  send_loop_.write(std::move(from), Completion(io_, lifetime_.guard(std::move(handler))));
}

void LibudtChannel::async_drained(DrainedHandler handler) {
  send_loop_.wait_drained(Completion(io_, lifetime_.guard(std::move(handler))));
}

void LibudtChannel::close(std::chrono::milliseconds drain) {
  receive_loop_.stop();
  send_loop_.close(drain);
}

std::optional<std::chrono::steady_clock::time_point> LibudtChannel::port_closed_since() {
  return connection_->port_closed_since();
}

}  // namespace udtcat::transport::libudt
