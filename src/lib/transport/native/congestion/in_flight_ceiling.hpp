/// The most that was in flight without the path overflowing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native {

/// Unbounded until a probe overflows the path; then it is raised by the packet, faster with each round trip of a probe.
/// source: draft-ietf-ccwg-bbr, "BBR.inflight_longterm"
/// Threads: unsynchronised.
class InFlightCeiling {
 public:
  void set(std::uint64_t bytes) { bytes_ = bytes; }
  void start_probe() { probe_rounds_ = 0; }
  /// A round trip of the probe begins: twice the packets of the last one will be added during it.
  void steepen(std::uint64_t window_bytes, std::size_t payload_bytes);
  void raise(std::uint64_t newly_delivered_bytes, std::size_t payload_bytes);

  [[nodiscard]] bool bounded() const { return bytes_ != kUnbounded; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// With room left for those who come new.
  [[nodiscard]] std::uint64_t with_headroom() const { return bounded() ? scaled(bytes_, kHeadroom) : kUnbounded; }

 private:
  static constexpr double kHeadroom = 0.85;  // spec: draft-ietf-ccwg-bbr, 1 - BBR.Headroom

  std::uint64_t bytes_ = kUnbounded;
  unsigned probe_rounds_ = 0;
  std::uint64_t delivered_per_packet_ = kUnbounded;  // so much delivered raises the ceiling by one packet
  std::uint64_t delivered_bytes_ = 0;
};

}  // namespace udtcat::transport::native
