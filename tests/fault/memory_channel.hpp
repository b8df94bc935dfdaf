/// A channel without a network: two ends in one process, one io_context, with faults on demand.
#pragma once

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

#include "core/lifetime.hpp"
#include "transport/channel.hpp"

namespace udtcat::fault {

/// One direction of the path: bytes in flight and what is done to them.
struct Pipe {
  std::deque<std::byte> bytes;
  bool cut = false;                                  ///< the reader's transport says that the connection broke
  bool black_hole = false;                           ///< written bytes vanish
  bool stuck = false;                                ///< writes are not completed
  std::function<void(std::span<std::byte>)> tamper;  ///< sees each write before it is carried
  std::vector<std::byte> capture;                    ///< everything ever written
  std::function<void()> wake_reader;
};

class MemoryChannel final : public transport::Channel {
 public:
  MemoryChannel(boost::asio::io_context& io, std::shared_ptr<Pipe> incoming, std::shared_ptr<Pipe> outgoing)
      : io_(io), incoming_(std::move(incoming)), outgoing_(std::move(outgoing)) {
    incoming_->wake_reader = lifetime_.guard([this] { serve_read(); });
  }
  ~MemoryChannel() override { close({}); }

  void async_read(std::span<std::byte> into, ReadHandler handler) override {
    into_ = into;
    read_handler_ = std::move(handler);
    boost::asio::post(io_, lifetime_.guard([this] { serve_read(); }));
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

  void close(std::chrono::milliseconds) override {
    if (std::exchange(closed_, true) || outgoing_->black_hole) return;
    outgoing_->cut = true;
    if (outgoing_->wake_reader) boost::asio::post(io_, [pipe = outgoing_] { pipe->wake_reader(); });
  }

  [[nodiscard]] transport::ChannelStats stats() override {
    return {.bytes_received = received_bytes_, .rtt = std::chrono::milliseconds(1)};
  }
  [[nodiscard]] Endpoint peer() const override { return {}; }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override {
    return port_closed;
  }

  std::optional<std::chrono::steady_clock::time_point> port_closed;

 private:
  void serve_read() {
    if (!read_handler_ || closed_) return;
    if (incoming_->bytes.size() >= into_.size()) {
      const auto end = incoming_->bytes.begin() + static_cast<std::ptrdiff_t>(into_.size());
      std::copy(incoming_->bytes.begin(), end, into_.begin());
      incoming_->bytes.erase(incoming_->bytes.begin(), end);
      received_bytes_ += into_.size();
      return std::exchange(read_handler_, nullptr)({});
    }
    if (incoming_->cut) std::exchange(read_handler_, nullptr)(fail(Errc::connection_broken, "read", "cut"));
  }

  boost::asio::io_context& io_;
  std::shared_ptr<Pipe> incoming_;
  std::shared_ptr<Pipe> outgoing_;
  std::span<std::byte> into_;
  ReadHandler read_handler_;
  std::uint64_t received_bytes_ = 0;
  bool closed_ = false;
  core::Lifetime lifetime_;
};

/// Two ends and the two directions between them.
struct ChannelPair {
  explicit ChannelPair(boost::asio::io_context& io)
      : connector(std::make_unique<MemoryChannel>(io, from_listener, from_connector)),
        listener(std::make_unique<MemoryChannel>(io, from_connector, from_listener)) {}

  std::shared_ptr<Pipe> from_connector = std::make_shared<Pipe>();
  std::shared_ptr<Pipe> from_listener = std::make_shared<Pipe>();
  std::unique_ptr<MemoryChannel> connector;
  std::unique_ptr<MemoryChannel> listener;
};

}  // namespace udtcat::fault
