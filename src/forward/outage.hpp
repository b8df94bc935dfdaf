// SPDX-License-Identifier: Apache-2.0
/// The outage of a connector's peer: each thing that its user is told of it, once.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <udtcat/result.hpp>

#include "tool/status/snapshot.hpp"

namespace udtcat::forward {

/// Whether the peer, or somebody in its place, has answered that it does not want us.
[[nodiscard]] bool is_refusal(const Error& error);

///   out ──a session──► here ──the last one gone, or a refusal──► out
///
/// Threads: unsynchronised. Time is a parameter.
class Outage {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Since `now`.  peer   as its user wrote it
  Outage(std::string peer, TimePoint now) : peer_(std::move(peer)), since_(now) {}

  /// Its last session is gone.
  void begin(const Error& why, TimePoint now);
  /// An attempt has failed.  returns   a line for the user at the first failure, and at each of another code.
  /// While there are sessions only a refusal counts.
  [[nodiscard]] std::optional<std::string> on_failure(const Error& error, TimePoint now);
  /// There is a new session.  returns   a line for the user where there was none, with for how long if he knows of that
  /// at   its address
  [[nodiscard]] std::optional<std::string> end(TimePoint now, const Endpoint& at);
  /// There has been a session.
  [[nodiscard]] bool was_here() const { return was_here_; }
  /// None: it is here.
  [[nodiscard]] std::optional<tool::DialingSnapshot> snapshot(TimePoint now) const;

 private:
  const std::string peer_;
  std::optional<TimePoint> since_;  // none: it is here
  std::string why_;
  std::optional<Errc> told_;
  bool was_here_ = false;
};

}  // namespace udtcat::forward
