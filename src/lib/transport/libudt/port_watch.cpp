// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/port_watch.hpp"

namespace udtcat::transport::libudt {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kErrorsAtOnce = 1024;     // guess: a flood must not keep a caller here
constexpr std::size_t kRememberedTimes = 64;    // guess
constexpr std::size_t kConvincingRefusals = 3;  // guess: a peer that restarts its socket draws one or two
constexpr auto kConvincingSpread = 2s;          // guess

}  // namespace

void PortWatch::watch(const Endpoint& peer) {
  const core::MutexLock lock(mutex_);
  ++watched_[peer.to_string()].watchers;
}

void PortWatch::unwatch(const Endpoint& peer) {
  const core::MutexLock lock(mutex_);
  const auto found = watched_.find(peer.to_string());
  if (found != watched_.end() && --found->second.watchers == 0) watched_.erase(found);
}

std::optional<PortWatch::Clock::duration> PortWatch::silence() {
  const core::MutexLock lock(mutex_);
  const auto last = socket_.last_arrival();
  if (!last) return std::nullopt;
  return std::chrono::duration_cast<Clock::duration>(std::chrono::system_clock::now() - *last);
}

void PortWatch::take(Clock::time_point now) {
  const core::MutexLock lock(mutex_);
  for (const net::PathError& error : socket_.take_path_errors(kErrorsAtOnce)) {
    if (!error.port_unreachable) continue;
    const auto found = watched_.find(error.peer.to_string());
    if (found == watched_.end()) continue;
    auto& times = found->second.times;
    // Full: the oldest still say how long it has been going on, the newest is the one that is asked for.
    if (times.size() == kRememberedTimes) times.pop_back();
    times.push_back(now);
  }
}

bool PortWatch::refused(const Endpoint& peer) {
  const core::MutexLock lock(mutex_);
  const auto found = watched_.find(peer.to_string());
  return found != watched_.end() && !found->second.times.empty();
}

std::optional<PortWatch::Clock::time_point> PortWatch::closed_since(const Endpoint& peer, Clock::time_point last_byte) {
  const core::MutexLock lock(mutex_);
  const auto found = watched_.find(peer.to_string());
  if (found == watched_.end()) return std::nullopt;
  auto& times = found->second.times;
  while (!times.empty() && times.front() <= last_byte) times.pop_front();
  if (times.size() < kConvincingRefusals || times.back() - times.front() < kConvincingSpread) return std::nullopt;
  return times.back();
}

}  // namespace udtcat::transport::libudt
