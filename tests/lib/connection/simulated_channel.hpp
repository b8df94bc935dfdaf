// SPDX-License-Identifier: Apache-2.0
/// One end of a path in virtual time, as a channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::connection {

/// As NativeChannel: a write is taken up when its last byte has left for the first time. The path outlives it.
class SimulatedChannel final : public transport::Channel {
 public:
  using Path = transport::native::SimulatedPath;

  SimulatedChannel(boost::asio::io_context& io, Path& path, Path::End end)
      : io_(io), path_(path), connection_(path.at(end)) {
    path.stop_reading(end, true);
  }

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override {
    read_ = Read{into, least_bytes, std::move(handler)};
    progress_read();
  }
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override {
    async_read_least(into, 1, std::move(handler));
  }
  void async_write(core::SharedBytes from, WriteHandler handler) override {
    connection_.write(std::move(from));
    writes_.push_back({connection_.written_bytes(), std::move(handler)});
  }
  void async_drained(DrainedHandler /*handler*/) override {}
  void close(std::chrono::milliseconds drain) override { connection_.close(path_.now(), drain); }
  [[nodiscard]] std::size_t datagram_room_bytes() const override {
    return connection_.datagram_room_bytes(path_.now());
  }
  void send_datagram(std::span<const std::byte> bytes) override { connection_.send_datagram(bytes); }
  void on_datagram(DatagramHandler handler) override { datagram_handler_ = std::move(handler); }
  [[nodiscard]] std::uint64_t retained_limit_bytes() const override { return connection_.memory_bytes(); }
  [[nodiscard]] std::uint64_t ahead_bytes() const override { return connection_.ahead_bytes(); }
  [[nodiscard]] transport::ChannelStats stats() override { return connection_.stats(); }
  [[nodiscard]] Endpoint peer() const override { return connection_.peer_address(); }
  void trust_peer() override { connection_.trust_peer(path_.now()); }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override { return {}; }

  /// To be called when the path has moved.  returns   whether a handler is posted
  bool progress() {
    bool posted = progress_read();
    while (auto datagram = connection_.take_datagram()) {
      post([this, bytes = std::move(*datagram)] { datagram_handler_(bytes); });
      posted = true;
    }
    for (; !writes_.empty() && writes_.front().end_offset <= connection_.sent_offset(); writes_.pop_front()) {
      post([handler = std::move(writes_.front().handler)] { handler({}); });
      posted = true;
    }
    return posted;
  }

 private:
  struct Read {
    std::span<std::byte> into;
    std::size_t least_bytes;
    ReadSomeHandler handler;
    std::size_t bytes = 0;  // so far
  };
  struct Write {
    std::uint64_t end_offset;
    WriteHandler handler;
  };

  bool progress_read() {
    if (!read_) return false;
    read_->bytes += connection_.read(path_.now(), read_->into.subspan(read_->bytes));
    if (read_->bytes < read_->least_bytes) return false;
    post([handler = std::move(read_->handler), bytes = read_->bytes] { handler(bytes); });
    read_.reset();
    return true;
  }
  template <typename Handler>
  void post(Handler handler) {
    boost::asio::post(io_, lifetime_.guard(std::move(handler)));
  }

  boost::asio::io_context& io_;
  Path& path_;
  transport::native::UdtConnection& connection_;
  DatagramHandler datagram_handler_;
  std::optional<Read> read_;
  std::deque<Write> writes_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::connection
