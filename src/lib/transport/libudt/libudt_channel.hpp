// SPDX-License-Identifier: Apache-2.0
/// A UDT connection as a Channel.
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/libudt/libudt_connection.hpp"
#include "lib/transport/libudt/loops.hpp"
#include "lib/transport/libudt/runtime.hpp"

namespace udtcat::transport::libudt {

/// libudt blocks, so each direction has a thread, from the first read or write on.
/// Threads: confined, as Channel.
class LibudtChannel final : public Channel {
 public:
  LibudtChannel(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime,
                std::shared_ptr<LibudtConnection> connection);
  /// Waits for the read in progress, at most kBlockingCallLimit, and for writes that close() left time for.
  ~LibudtChannel() override = default;

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override;
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override;
  void async_write(core::SharedBytes from, WriteHandler handler) override;
  void async_drained(DrainedHandler handler) override;
  void close(std::chrono::milliseconds drain) override;
  [[nodiscard]] ChannelStats stats() override { return connection_->stats(); }
  [[nodiscard]] Endpoint peer() const override { return connection_->peer(); }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override;

 private:
  boost::asio::io_context& io_;
  const std::shared_ptr<LibudtConnection> connection_;
  ReceiveLoop receive_loop_;
  SendLoop send_loop_;  // ends before the receive loop: its closing wakes that one
  core::Lifetime lifetime_;
};

/// Makes a channel of a socket that libudt says is connected.  errors: Errc::connection_broken
[[nodiscard]] Result<std::unique_ptr<Channel>> make_channel(boost::asio::io_context& io,
                                                            std::shared_ptr<Runtime> runtime, Established established);

}  // namespace udtcat::transport::libudt
