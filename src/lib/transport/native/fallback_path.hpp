// SPDX-License-Identifier: Apache-2.0
/// Another path, to go to where the one in use is silent: docs/spec/udt4.md §9, "A fallback".
#pragma once

#include <chrono>
#include <optional>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/path_liveness.hpp"
#include "lib/transport/native/path_validation.hpp"
#include "lib/transport/native/rtt.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Asks whether the path in use answers, and tries the other, if there is one, beside it while it does not: of the two
/// the first that answers stays.
/// Threads: unsynchronised; time is a parameter.
class FallbackPath {
 public:
  FallbackPath(TimePoint now, const std::optional<Endpoint>& address) : liveness_(now), address_(address) {}

  /// Of the path in use.
  [[nodiscard]] PathLiveness& liveness() { return liveness_; }
  void on_answered(PathValidation& path) {
    liveness_.on_answered();
    if (address_ && path.tries(*address_)) path.stop_trying();
  }
  /// Tries the other path where it is time.  returns   a question that the peer is to be sent; none: not now
  [[nodiscard]] std::optional<ControlMessage> poll(TimePoint now, const RttEstimator& rtt, PathValidation& path) {
    if (address_ && path.peer() != *address_ && !path.tries(*address_) && is_silent(now, rtt))
      path.try_address(now, *address_, kTryGap);
    const auto due = deadline(now, rtt);
    if (!due || *due > now) return std::nullopt;
    liveness_.on_asked(now);
    return path.question();
  }
  [[nodiscard]] std::optional<TimePoint> deadline(TimePoint now, const RttEstimator& rtt) const {
    return liveness_.question_at(now, rtt.smoothed());
  }
  [[nodiscard]] bool is_silent(TimePoint now, const RttEstimator& rtt) const {
    return liveness_.is_silent(now, rtt.smoothed(), rtt.timeout());
  }

 private:
  static constexpr Duration kTryGap = std::chrono::milliseconds(100);  // guess: data wait for an answer

  PathLiveness liveness_;
  const std::optional<Endpoint> address_;
};

}  // namespace udtcat::transport::native
