// SPDX-License-Identifier: Apache-2.0
#include "interop/our_end.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "interop/raw_udt.hpp"

namespace udtcat::test::interop {

namespace {

constexpr std::size_t kOutstandingWrites = 4;

std::string words_of(const Status& status) { return status ? std::string() : status.error().message(); }

}  // namespace

OurEnd::OurEnd(const TransportOptions& options) : work_(boost::asio::make_work_guard(io_)) {
  auto engine = transport::make_engine(io_, options);
  if (engine) {
    engine_ = std::move(*engine);
  } else {
    ADD_FAILURE() << "there is no engine to judge: " << engine.error().message();
  }
  thread_ = std::thread([this] { io_.run(); });
}

OurEnd::~OurEnd() {
  run([this] {
    acceptor_.reset();
    engine_.reset();
  });
  work_.reset();
  io_.stop();
  thread_.join();
}

std::uint16_t OurEnd::listen(AddressFamily family, const std::optional<Endpoint>& at) {
  return run([&]() -> std::uint16_t {
    if (!engine_) return 0;
    auto acceptor = engine_->listen({at.value_or(loopback(family, 0))});
    if (!acceptor) {
      ADD_FAILURE() << acceptor.error().message();
      return 0;
    }
    acceptor_ = std::move(*acceptor);
    return acceptor_->local_endpoints().front().port();
  });
}

void OurEnd::stop_listening() {
  run([this] { acceptor_.reset(); });
}

void OurEnd::start_accept() {
  auto arrival = std::make_shared<Arrival>();
  accepting_ = arrival->get_future();
  run([&] {
    if (acceptor_) acceptor_->async_accept([arrival](auto result) { arrival->set_value(std::move(result)); });
  });
}

std::unique_ptr<OurChannel> OurEnd::accepted(std::chrono::milliseconds limit) {
  if (!acceptor_ || !accepting_.valid() || accepting_.wait_for(limit) == std::future_status::timeout) return nullptr;
  auto result = accepting_.get();
  if (!result) {
    ADD_FAILURE() << "accept: " << result.error().message();
    return nullptr;
  }
  return std::make_unique<OurChannel>(*this, std::move(*result));
}

void OurEnd::start_connect(const Endpoint& peer, std::chrono::milliseconds patience) {
  auto arrival = std::make_shared<Arrival>();
  connecting_ = arrival->get_future();
  run([&] {
    if (engine_)
      engine_->async_connect(peer, {}, patience, [arrival](auto result) { arrival->set_value(std::move(result)); });
  });
}

Result<std::unique_ptr<OurChannel>> OurEnd::connected(std::chrono::milliseconds limit) {
  if (!engine_) return fail(Errc::out_of_resources, "connect", "there is no engine");
  if (connecting_.wait_for(limit) == std::future_status::timeout)
    return fail(Errc::cannot_reach, "connect", "no word of it within " + std::to_string(limit.count()) + " ms");
  auto result = connecting_.get();
  if (!result) return tl::unexpected(result.error());
  return std::make_unique<OurChannel>(*this, std::move(*result));
}

Result<std::unique_ptr<OurChannel>> OurEnd::connect(const Endpoint& peer, std::chrono::milliseconds patience) {
  start_connect(peer, patience);
  return connected(patience + 3s);
}

OurChannel::OurChannel(OurEnd& end, std::unique_ptr<transport::Channel> channel)
    : end_(end), channel_(std::move(channel)) {}

OurChannel::~OurChannel() {
  end_.run([this] { channel_.reset(); });
}

std::string OurChannel::read(std::span<std::byte> into, std::chrono::milliseconds limit) {
  start_read(into.size());
  const auto ended = read_ended(limit);
  std::copy(into_.begin(), into_.end(), into.begin());
  if (!ended)
    return "the read of " + std::to_string(into.size()) + " bytes is not over after " + std::to_string(limit.count()) +
           " ms";
  return words_of(*ended);
}

void OurChannel::start_read(std::size_t bytes) {
  into_.resize(bytes);
  auto promise = std::make_shared<std::promise<Status>>();
  reading_ = promise->get_future();
  end_.run([&] { channel_->async_read(into_, [promise](Status status) { promise->set_value(std::move(status)); }); });
}

std::optional<Status> OurChannel::read_ended(std::chrono::milliseconds limit) {
  if (reading_.wait_for(limit) == std::future_status::timeout) return std::nullopt;
  return reading_.get();
}

std::string OurChannel::write(std::vector<std::byte> bytes, std::chrono::milliseconds limit) {
  auto promise = std::make_shared<std::promise<Status>>();
  auto future = promise->get_future();
  end_.run([&] {
    channel_->async_write(core::SharedBytes::adopt(std::move(bytes)),
                          [promise](Status status) { promise->set_value(std::move(status)); });
  });
  if (future.wait_for(limit) == std::future_status::timeout)
    return "the write is not taken up after " + std::to_string(limit.count()) + " ms";
  return words_of(future.get());
}

void OurChannel::start_write(std::vector<std::byte> bytes) {
  end_.run([&] { channel_->async_write(core::SharedBytes::adopt(std::move(bytes)), [](const Status&) {}); });
}

struct OurChannel::Sending {
  transport::Channel* channel;
  Pattern pattern;
  std::uint64_t bytes;
  std::size_t piece_bytes;
  Job job;
  std::uint64_t begun = 0;
  std::uint64_t taken = 0;
  std::size_t outstanding = 0;
  bool failed = false;
};

Job OurChannel::start_sending(const Pattern& pattern, std::uint64_t bytes, std::size_t piece_bytes) {
  auto sending = std::make_shared<Sending>(Sending{channel_.get(), pattern, bytes, piece_bytes, {}});
  end_.run([&] { send_more(sending); });
  return sending->job;
}

void OurChannel::send_more(const std::shared_ptr<Sending>& its) {
  while (!its->failed && its->begun < its->bytes && its->outstanding < kOutstandingWrites) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(its->piece_bytes, its->bytes - its->begun));
    auto piece = its->pattern.bytes(its->begun, now);
    its->begun += now;
    ++its->outstanding;
    its->channel->async_write(core::SharedBytes::adopt(std::move(piece)), [its, now](const Status& status) {
      --its->outstanding;
      if (its->failed) return;
      if (!status) {
        its->failed = true;
        return its->job.finish("ours writes: " + status.error().message());
      }
      its->taken += now;
      its->job.progress(now);
      if (its->taken == its->bytes) return its->job.finish();
      send_more(its);
    });
  }
}

struct OurChannel::Receiving {
  transport::Channel* channel;
  Pattern pattern;
  std::uint64_t bytes;
  Job job;
  std::vector<std::byte> piece;
  std::uint64_t got = 0;
};

Job OurChannel::start_receiving(const Pattern& pattern, std::uint64_t bytes, std::size_t piece_bytes) {
  auto receiving = std::make_shared<Receiving>(Receiving{channel_.get(), pattern, bytes, {}, {}});
  receiving->piece.resize(piece_bytes);
  end_.run([&] { receive_more(receiving); });
  return receiving->job;
}

void OurChannel::receive_more(const std::shared_ptr<Receiving>& its) {
  if (its->got == its->bytes) return its->job.finish();
  const auto into = std::span(its->piece).first(std::min<std::uint64_t>(its->piece.size(), its->bytes - its->got));
  its->channel->async_read(into, [its, into](const Status& status) {
    if (!status) return its->job.finish("ours reads: " + status.error().message());
    if (auto wrong = its->pattern.difference(its->got, into)) return its->job.finish("ours received: " + *wrong);
    its->got += into.size();
    its->job.progress(into.size());
    receive_more(its);
  });
}

void OurChannel::close(std::chrono::milliseconds drain) {
  end_.run([&] { channel_->close(drain); });
}

transport::ChannelStats OurChannel::stats() {
  return end_.run([&] { return channel_->stats(); });
}

Endpoint OurChannel::peer() {
  return end_.run([&] { return channel_->peer(); });
}

bool OurChannel::port_is_closed() {
  return end_.run([&] { return channel_->port_closed_since().has_value(); });
}

std::string OurChannel::counters() {
  const auto its = stats();
  return "ours: received " + std::to_string(its.bytes_received) + " bytes; sent " + std::to_string(its.packets_sent) +
         " packets (again " + std::to_string(its.packets_resent) + ", reported lost " +
         std::to_string(its.packets_lost) + "), RTT " +
         (its.rtt ? std::to_string(its.rtt->count()) + " us" : "unknown");
}

}  // namespace udtcat::test::interop
