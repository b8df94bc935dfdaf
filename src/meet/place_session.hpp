// SPDX-License-Identifier: Apache-2.0
/// One peer's session with the place.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include <udtcat/connection.hpp>

#include "lib/core/lifetime.hpp"
#include "meet/client_stream.hpp"

namespace udtcat::meet {

/// Threads: confined to the io_context thread.
class PlaceSession {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kMaxOpenStreams = 64;  ///< guess: PlaceLimits' registrations and pairs of one, and a few

  /// place       outlives this
  /// on_closed   called once, and never from inside a call
  PlaceSession(PlaceState& place, std::unique_ptr<Connection> connection, std::function<void()> on_closed);
  PlaceSession(const PlaceSession&) = delete;
  PlaceSession& operator=(const PlaceSession&) = delete;
  ~PlaceSession() = default;

  /// Forgets streams that are over, and parts from a peer that has wanted nothing for long.
  void sweep(TimePoint now);
  void abort(const Error& why) { connection_->abort(why); }
  [[nodiscard]] Connection& connection() { return *connection_; }

 private:
  void forget_ended();

  PlaceState& place_;
  const std::unique_ptr<Connection> connection_;
  const PeerOfStream peer_;
  std::list<std::unique_ptr<ClientStream>> streams_;  // at most twice kMaxOpenStreams: those that ended stay a while
  TimePoint used_at_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meet
