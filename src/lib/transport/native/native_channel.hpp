/// A connection of our own engine as a Channel.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include <boost/asio/io_context.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {

/// Threads: confined, as Channel.
class NativeChannel final : public Channel, private LinkUser {
 public:
  /// Takes the link over. The port outlives this.
  NativeChannel(boost::asio::io_context& io, UdpPort& port, Link& link);
  ~NativeChannel() override;
  NativeChannel(const NativeChannel&) = delete;
  NativeChannel& operator=(const NativeChannel&) = delete;

  void async_read(std::span<std::byte> into, ReadHandler handler) override;
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override;
  void async_write(core::SharedBytes from, WriteHandler handler) override;
  void async_drained(DrainedHandler handler) override;
  void close(std::chrono::milliseconds drain) override;
  [[nodiscard]] std::uint64_t retained_limit_bytes() const override { return link_.connection.memory_bytes(); }
  [[nodiscard]] ChannelStats stats() override;
  [[nodiscard]] Endpoint peer() const override { return link_.connection.peer_address(); }
  [[nodiscard]] bool proved_key() const override { return link_.proved; }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override {
    return link_.connection.port_closed_since();
  }

 private:
  struct Write {
    std::uint64_t end_offset;
    WriteHandler handler;
  };

  void on_progress() override;
  void progress_read();
  void progress_read_some();
  void progress_writes();
  void progress_drain();
  void finish_read(Status status);
  void finish_read_some(Result<std::size_t> result);
  [[nodiscard]] bool ended() const;
  [[nodiscard]] Error broken(const char* doing) const;
  void post(std::function<void(Status)> handler, Status status);

  boost::asio::io_context& io_;
  UdpPort& port_;
  Link& link_;
  std::span<std::byte> into_;  // what is left of the read
  ReadHandler read_handler_;
  ReadSomeHandler read_some_handler_;  // at most one of the two
  std::deque<Write> writes_;
  DrainedHandler drained_handler_;
  std::uint64_t drained_offset_ = 0;  // acknowledged up to here, it is drained
  bool closed_ = false;               // by us
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
