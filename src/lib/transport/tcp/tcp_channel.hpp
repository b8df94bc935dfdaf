// SPDX-License-Identifier: Apache-2.0
/// A connection of TCP, as the session sees it.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>

#include <boost/asio/io_context.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/tcp/tcp_connection.hpp"

namespace udtcat::transport::tcp {

/// Threads: confined, as Channel.
class TcpChannel final : public Channel, private ConnectionUser {
 public:
  /// The connection is there until this releases it.
  TcpChannel(boost::asio::io_context& io, TcpConnection& connection);
  ~TcpChannel() override;
  TcpChannel(const TcpChannel&) = delete;
  TcpChannel& operator=(const TcpChannel&) = delete;

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override;
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override;
  void async_write(core::SharedBytes from, WriteHandler handler) override;
  void async_drained(DrainedHandler handler) override;
  void close(std::chrono::milliseconds drain) override;
  /// The system keeps its own copies; this bounds what the session grants its peer.
  [[nodiscard]] std::uint64_t retained_limit_bytes() const override { return connection_.memory_bytes(); }
  [[nodiscard]] std::uint64_t ahead_bytes() const override { return connection_.ahead_bytes(); }
  [[nodiscard]] ChannelStats stats() override { return connection_.stats(); }
  void add_end_stats(EndStats& end) const override { connection_.add_end_stats(end); }
  [[nodiscard]] Endpoint peer() const override { return connection_.peer(); }
  [[nodiscard]] bool proved_key() const override { return connection_.proved(); }
  /// The end of a process ends its connections: there is no closed port to be told of.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override { return {}; }

 private:
  struct Read {
    std::span<std::byte> into;
    std::size_t least_bytes;
    bool tells_the_end;  // completes with 0 where the peer has closed in order
    ReadSomeHandler handler;
    std::size_t bytes = 0;  // so far
  };
  struct Write {
    std::uint64_t end_offset;
    WriteHandler handler;
  };

  void on_readable() override;
  void on_sent() override;
  void begin_read(Read read);
  void read_more();
  void end_read(bool in_order);
  void finish_read(Result<std::size_t> result);
  void progress_writes();
  void progress_drain();
  [[nodiscard]] Error broken(const char* doing) const;
  void post(std::function<void(Status)> handler, Status status);

  boost::asio::io_context& io_;
  TcpConnection& connection_;
  std::optional<Read> read_;
  std::deque<Write> writes_;
  DrainedHandler drained_handler_;
  std::uint64_t drained_offset_ = 0;  // of the stream: drained once all before it is acknowledged
  bool closed_ = false;               // by us
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::tcp
