// SPDX-License-Identifier: Apache-2.0
/// A connection of our own engine as a Channel.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include <boost/asio/io_context.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/native/udt_link.hpp"
#include "lib/transport/read_guard.hpp"

namespace udtcat::transport::native {

/// Threads: confined, as Channel.
class NativeChannel final : public Channel, private LinkUser {
 public:
  /// Takes the link over. Its port outlives this.
  /// user   where it is on another thread
  NativeChannel(boost::asio::io_context& io, UdtLink& link, FarUser user = {});
  ~NativeChannel() override;
  NativeChannel(const NativeChannel&) = delete;
  NativeChannel& operator=(const NativeChannel&) = delete;

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override;
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override;
  void async_write(core::SharedBytes from, WriteHandler handler) override;
  void async_drained(DrainedHandler handler) override;
  void close(std::chrono::milliseconds drain) override;
  [[nodiscard]] std::uint64_t retained_limit_bytes() const override { return connection_.memory_bytes(); }
  [[nodiscard]] std::optional<Written> written() const override {
    return Written{connection_.written_bytes(), connection_.acknowledged_offset(), connection_.unacknowledged_since()};
  }
  [[nodiscard]] std::size_t datagram_room_bytes() const override;
  void send_datagram(std::span<const std::byte> bytes) override;
  void on_datagram(DatagramHandler handler) override { datagram_handler_ = std::move(handler); }
  [[nodiscard]] std::uint64_t ahead_bytes() const override { return connection_.ahead_bytes(); }
  [[nodiscard]] ChannelStats stats() override;
  void add_end_stats(EndStats& end) const override;
  [[nodiscard]] Endpoint peer() const override { return connection_.peer_address(); }
  [[nodiscard]] bool proved_key() const override { return link_.proved; }
  void trust_peer() override;
  void try_path(const Endpoint& address) override;
  void watch_path(const std::optional<Endpoint>& fallback) override { connection_.watch_path(clock_now(), fallback); }
  [[nodiscard]] bool path_is_silent() const override { return connection_.path_is_silent(clock_now()); }
  void set_tunnel(std::function<void(std::span<const std::byte>)> send) override {
    link_.port.set_tunnel(connection_.peer_address().family(), std::move(send));
  }
  void take_from_tunnel(std::span<const std::byte> packet) override { link_.port.take_from_tunnel(packet); }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override {
    return connection_.port_closed_since();
  }

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

  void on_received() override;
  void on_sent() override;
  void take_datagrams();
  void begin_read(Read read);
  void read_more();
  void take_bytes();
  void end_read();
  void finish_read(Result<std::size_t> result);
  void progress_writes();
  void progress_drain();
  [[nodiscard]] bool ended() const;
  [[nodiscard]] Error broken(const char* doing) const;
  void post(std::function<void(Status)> handler, Status status);

  boost::asio::io_context& io_;
  UdtLink& link_;
  UdtConnection& connection_;  // of link_
  const FarUser user_;         // empty: it is on this thread
  DatagramHandler datagram_handler_;
  std::optional<Read> read_;
  std::deque<Write> writes_;
  DrainedHandler drained_handler_;
  std::uint64_t drained_offset_ = 0;  // of the stream: drained once all before it is acknowledged
  bool closed_ = false;               // by us
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
