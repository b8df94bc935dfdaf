// SPDX-License-Identifier: Apache-2.0
/// The first flight, and how much larger the second may be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

/// A first flight is small because the path may be slow. Its ten packets leave together: on a slow path the last one
/// waits long for the others. Where that wait is a small part of the round trip the second flight is twelve times as
/// large.
///
/// Deviates from the draft, which doubles. Loss without a wait is not that of a slow path. A receiver that wakes late
/// makes the path seem slower, which does no harm.
/// Threads: unsynchronised.
class FirstFlight {
 public:
  struct Allowance {
    std::uint64_t window_bytes;
    BitRate pacing_rate;
  };

  explicit FirstFlight(std::size_t payload_bytes) : packet_bytes_(payload_bytes) {}

  /// At most once: with the ACK that ends the flight.
  [[nodiscard]] std::optional<Allowance> on_ack(const AckEvent& ack) {
    if (over_ || !ack.rtt) return std::nullopt;
    // A single sample does not tell the wait from the path.
    const bool compares = least_rtt_ || ack.least_rtt.value_or(*ack.rtt) < *ack.rtt;
    least_rtt_ = std::min({least_rtt_.value_or(*ack.rtt), *ack.rtt, ack.least_rtt.value_or(*ack.rtt)});
    const std::uint64_t flight = ack.rate ? ack.rate->in_flight_at_send_bytes : 0;
    if (!compares || flight < kLeastPackets * packet_bytes_) return std::nullopt;
    over_ = true;
    const Duration waited = *ack.rtt - *least_rtt_;
    if (waited > *least_rtt_ / kWaitPart) return std::nullopt;
    const BitRate shown = BitRate::from_bytes_per(flight, waited + *least_rtt_ / kUnseenPart);
    const std::uint64_t window = kSecondWindows * kInitialWindowPackets * packet_bytes_;
    return Allowance{window, std::min(shown, scaled(BitRate::from_bytes_per(window, *least_rtt_), kStartupPacingGain))};
  }

 private:
  static constexpr std::size_t kLeastPackets = 8;  // guess: nearly all of ten, as the last may not be full
  // guess: three quarters of the 160 packets that a path of kWaitPart carries in a round trip at least
  static constexpr std::size_t kSecondWindows = 12;
  static constexpr int kWaitPart = 16;    // guess: of the round trip, in which ten packets in a sixteenth are 160
  static constexpr int kUnseenPart = 64;  // guess: of the round trip: hosts hide as much

  const std::size_t packet_bytes_;
  std::optional<Duration> least_rtt_;
  bool over_ = false;
};

}  // namespace udtcat::transport::native
