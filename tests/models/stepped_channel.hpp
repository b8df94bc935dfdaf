// SPDX-License-Identifier: Apache-2.0
/// A path whose every record the test delivers, repeats or loses.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::test {

/// Records and datagrams on their way to one end.
struct SteppedPipe {
  std::deque<std::vector<std::byte>> records;  ///< each as it was written, at once
  std::deque<std::vector<std::byte>> datagrams;
  std::deque<std::byte> arrived;
  bool open = true;     ///< somebody reads
  bool broken = false;  ///< the reader's transport has said so; what it writes goes nowhere
  std::function<void()> wake_reader;
  transport::Channel::DatagramHandler take_datagram;
};

class SteppedChannel final : public transport::Channel {
 public:
  SteppedChannel(boost::asio::io_context& io, std::shared_ptr<SteppedPipe> incoming,
                 std::shared_ptr<SteppedPipe> outgoing, std::size_t datagram_room_bytes)
      : io_(io),
        incoming_(std::move(incoming)),
        outgoing_(std::move(outgoing)),
        datagram_room_bytes_(datagram_room_bytes) {
    incoming_->wake_reader = lifetime_.guard([this] { serve_read(); });
  }
  ~SteppedChannel() override { close({}); }

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override {
    into_ = into;
    least_bytes_ = least_bytes;
    handler_ = std::move(handler);
    boost::asio::post(io_, lifetime_.guard([this] { serve_read(); }));
  }
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override {
    async_read_least(into, 1, std::move(handler));
  }
  void async_write(core::SharedBytes from, WriteHandler handler) override {
    if (is_carried()) outgoing_->records.emplace_back(from.bytes().begin(), from.bytes().end());
    boost::asio::post(io_, lifetime_.guard([handler = std::move(handler)] { handler({}); }));
  }
  void async_drained(DrainedHandler handler) override {
    boost::asio::post(io_, lifetime_.guard([handler = std::move(handler)] { handler({}); }));
  }
  [[nodiscard]] std::size_t datagram_room_bytes() const override { return datagram_room_bytes_; }
  void send_datagram(std::span<const std::byte> bytes) override {
    if (is_carried()) outgoing_->datagrams.emplace_back(bytes.begin(), bytes.end());
  }
  void on_datagram(DatagramHandler handler) override { incoming_->take_datagram = lifetime_.guard(std::move(handler)); }
  void close(std::chrono::milliseconds /*drain*/) override { incoming_->open = false; }
  [[nodiscard]] transport::ChannelStats stats() override { return {{.rtt = std::chrono::milliseconds(1)}}; }
  [[nodiscard]] Endpoint peer() const override { return {}; }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override {
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_carried() const {
    return incoming_->open && !incoming_->broken && outgoing_->open && !outgoing_->broken;
  }
  void serve_read() {
    if (!handler_) return;
    if (incoming_->broken || !incoming_->open)
      return std::exchange(handler_, nullptr)(fail(Errc::connection_broken, "read", "cut"));
    const std::size_t there = std::min(incoming_->arrived.size(), into_.size());
    if (there < least_bytes_) return;
    const auto end = incoming_->arrived.begin() + static_cast<std::ptrdiff_t>(there);
    std::copy(incoming_->arrived.begin(), end, into_.begin());
    incoming_->arrived.erase(incoming_->arrived.begin(), end);
    std::exchange(handler_, nullptr)(there);
  }

  boost::asio::io_context& io_;
  std::shared_ptr<SteppedPipe> incoming_;
  std::shared_ptr<SteppedPipe> outgoing_;
  const std::size_t datagram_room_bytes_;
  std::span<std::byte> into_;
  std::size_t least_bytes_ = 0;
  ReadSomeHandler handler_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::test
