// SPDX-License-Identifier: Apache-2.0
/// A channel without a network: two ends in one process, one io_context, with faults on demand.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// One direction of the path: bytes in flight and what is done to them.
struct MemoryPipe {
  std::deque<std::byte> bytes;
  bool cut = false;                                  ///< the reader's transport says that the connection broke
  bool closed = false;                               ///< the writer closed in order; cut as well
  bool black_hole = false;                           ///< written bytes vanish
  bool stuck = false;                                ///< writes are not completed, nothing is acknowledged
  std::function<void(std::span<std::byte>)> tamper;  ///< sees each write before it is carried
  std::vector<std::byte> capture;                    ///< everything ever written
  std::uint64_t ahead_bytes = UINT64_MAX;            ///< see Channel
  std::size_t datagram_room_bytes = 0;               ///< see Channel
  std::function<void(std::span<const std::byte>)> carry_datagram;
  std::optional<std::uint64_t> acknowledged;       ///< of the written bytes; none: the writer's transport does not say
  std::uint64_t packets_lost = 0;                  ///< as the writer's transport counts them
  std::optional<std::chrono::milliseconds> drain;  ///< that the writer closed with
  std::function<void()> wake_reader;
  std::function<void()> wake_writer;  ///< call after changing stuck, for a writer that waits for acknowledgements
};

class MemoryChannel final : public transport::Channel {
 public:
  MemoryChannel(boost::asio::io_context& io, std::shared_ptr<MemoryPipe> incoming, std::shared_ptr<MemoryPipe> outgoing)
      : io_(io), incoming_(std::move(incoming)), outgoing_(std::move(outgoing)) {
    // The handler of a read may end the channel.
    incoming_->wake_reader = lifetime_.guard([this, then = lifetime_.guard([this] { serve_drained(); })]() mutable {
      serve_read();
      then();
    });
    outgoing_->wake_writer = lifetime_.guard([this] { serve_drained(); });
  }
  ~MemoryChannel() override { close({}); }

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override {
    some_ = false;
    begin_read(into, least_bytes, std::move(handler));
  }
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override {
    some_ = true;
    begin_read(into, 1, std::move(handler));
  }

  void async_write(core::SharedBytes shared, WriteHandler handler) override {
    const auto from = shared.bytes();
    std::vector<std::byte> carried(from.begin(), from.end());
    outgoing_->capture.insert(outgoing_->capture.end(), from.begin(), from.end());
    if (outgoing_->tamper) outgoing_->tamper(carried);
    if (!outgoing_->black_hole) outgoing_->bytes.insert(outgoing_->bytes.end(), carried.begin(), carried.end());
    if (!outgoing_->stuck) boost::asio::post(io_, lifetime_.guard([handler = std::move(handler)] { handler({}); }));
    if (outgoing_->wake_reader) boost::asio::post(io_, [pipe = outgoing_] { pipe->wake_reader(); });
  }

  void async_drained(DrainedHandler handler) override {
    drained_handler_ = std::move(handler);
    boost::asio::post(io_, lifetime_.guard([this] { serve_drained(); }));
  }

  [[nodiscard]] std::optional<Written> written() const override {
    if (!outgoing_->acknowledged) return std::nullopt;
    return Written{outgoing_->capture.size(), *outgoing_->acknowledged};
  }
  [[nodiscard]] std::uint64_t ahead_bytes() const override { return outgoing_->ahead_bytes; }
  [[nodiscard]] std::size_t datagram_room_bytes() const override { return outgoing_->datagram_room_bytes; }
  void send_datagram(std::span<const std::byte> bytes) override {
    std::vector<std::byte> carried(bytes.begin(), bytes.end());
    boost::asio::post(io_, [pipe = outgoing_, carried = std::move(carried)] {
      if (pipe->carry_datagram) pipe->carry_datagram(carried);
    });
  }
  void on_datagram(DatagramHandler handler) override {
    incoming_->carry_datagram = lifetime_.guard(std::move(handler));
  }

  void close(std::chrono::milliseconds drain) override {
    if (std::exchange(closed_, true)) return;
    outgoing_->drain = drain;
    if (outgoing_->black_hole) return;
    outgoing_->closed = true;
    outgoing_->cut = true;
    if (outgoing_->wake_reader) boost::asio::post(io_, [pipe = outgoing_] { pipe->wake_reader(); });
  }

  [[nodiscard]] transport::ChannelStats stats() override {
    transport::ChannelStats now = counted;
    now.bytes_received += received_bytes_;
    now.packets_lost += outgoing_->packets_lost;
    return now;
  }
  void add_end_stats(EndStats& end) const override { end = measured; }
  [[nodiscard]] Endpoint peer() const override { return {}; }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override {
    return port_closed;
  }

  std::optional<std::chrono::steady_clock::time_point> port_closed;
  transport::ChannelStats counted{{.rtt = std::chrono::milliseconds(1)}};  ///< besides what it carries
  EndStats measured;

 private:
  void begin_read(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) {
    into_ = into;
    least_bytes_ = least_bytes;
    read_handler_ = std::move(handler);
    boost::asio::post(io_, lifetime_.guard([this] { serve_read(); }));
  }

  void serve_read() {
    if (!read_handler_ || closed_) return;
    const std::size_t there = std::min(incoming_->bytes.size(), into_.size());
    if (there >= least_bytes_) {
      const auto end = incoming_->bytes.begin() + static_cast<std::ptrdiff_t>(there);
      std::copy(incoming_->bytes.begin(), end, into_.begin());
      incoming_->bytes.erase(incoming_->bytes.begin(), end);
      received_bytes_ += there;
      return std::exchange(read_handler_, nullptr)(there);
    }
    if (!incoming_->cut) return;
    if (incoming_->closed && some_) return std::exchange(read_handler_, nullptr)(std::size_t{0});
    std::exchange(read_handler_, nullptr)(fail(Errc::connection_broken, "read", "cut"));
  }

  void serve_drained() {
    if (!drained_handler_) return;
    if (!outgoing_->stuck && !outgoing_->black_hole) return std::exchange(drained_handler_, nullptr)({});
    if (incoming_->cut || closed_)
      std::exchange(drained_handler_, nullptr)(fail(Errc::connection_broken, "wait for acknowledgements", "cut"));
  }

  boost::asio::io_context& io_;
  std::shared_ptr<MemoryPipe> incoming_;
  std::shared_ptr<MemoryPipe> outgoing_;
  std::span<std::byte> into_;
  std::size_t least_bytes_ = 0;
  bool some_ = false;  // the read in progress takes what there is
  ReadSomeHandler read_handler_;
  DrainedHandler drained_handler_;
  std::uint64_t received_bytes_ = 0;
  bool closed_ = false;
  core::Lifetime lifetime_;
};

/// Two ends and the two directions between them.
struct ChannelPair {
  explicit ChannelPair(boost::asio::io_context& io)
      : connector(std::make_unique<MemoryChannel>(io, from_listener, from_connector)),
        listener(std::make_unique<MemoryChannel>(io, from_connector, from_listener)) {}

  std::shared_ptr<MemoryPipe> from_connector = std::make_shared<MemoryPipe>();
  std::shared_ptr<MemoryPipe> from_listener = std::make_shared<MemoryPipe>();
  std::unique_ptr<MemoryChannel> connector;
  std::unique_ptr<MemoryChannel> listener;
};

}  // namespace udtcat::test
