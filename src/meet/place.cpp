// SPDX-License-Identifier: Apache-2.0
#include "meet/place.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"
#include "tool/status/process_resources.hpp"

namespace udtcat::meet {

namespace {

constexpr std::chrono::seconds kSweepInterval{1};  // guess: what is over stays so long

}  // namespace

void make_small(SessionOptions& session, TransportOptions& transport) {
  session.block_bytes = kMinBlockBytes;
  session.lanes = 1;
  session.flows = 1;
  session.streams = PlaceSession::kMaxOpenStreams;
  transport.memory_bytes = kMinMemoryBytes;
}

Place::Place(boost::asio::io_context& io, const PlaceLimits& limits, PairTable::Settings settings,
             std::function<void(const Connection& peer, const Error& why)> on_refused)
    : state_(io, limits, std::move(settings)), sweep_timer_(io) {
  state_.on_refused = std::move(on_refused);
  sweep();
}

void Place::add(std::unique_ptr<Connection> connection) {
  totals_.come(*connection);
  const auto at = sessions_.emplace(sessions_.end());
  *at = std::make_unique<PlaceSession>(state_, std::move(connection), [this, at] {
    boost::asio::post(state_.io, lifetime_.guard([this, at] {
      totals_.leave((*at)->connection());
      sessions_.erase(at);
      tool::release_freed_memory();
      if (stopped_ && sessions_.empty()) std::exchange(stopped_, nullptr)();
    }));
  });
}

void Place::take(TcpRelay::Socket socket, const meeting::Relay::Token& token, const Endpoint& from) {
  if (!state_.pairs.take(std::move(socket), token)) core::log().debug("{} brings a token of no pair", from.to_string());
}

void Place::stop(const Error& why, std::function<void()> done) {
  if (sessions_.empty()) return boost::asio::post(state_.io, std::move(done));
  stopped_ = std::move(done);
  for (const auto& each : sessions_) each->abort(why);
}

void Place::sweep() {
  const auto now = std::chrono::steady_clock::now();
  state_.pairs.sweep(now);
  for (const auto& each : sessions_) each->sweep(now);
  sweep_timer_.expires_after(kSweepInterval);
  sweep_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) sweep();
  }));
}

}  // namespace udtcat::meet
