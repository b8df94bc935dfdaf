#include "lib/transport/native/congestion/in_flight_ceiling.hpp"

#include <algorithm>

namespace udtcat::transport::native {

namespace {

constexpr unsigned kMostDoublings = 30;  // spec: draft-ietf-ccwg-bbr, "BBRRaiseInflightLongtermSlope"

}  // namespace

void InFlightCeiling::steepen(std::uint64_t window_bytes, std::size_t payload_bytes) {
  const std::uint64_t packets = std::uint64_t{1} << probe_rounds_;
  probe_rounds_ = std::min(probe_rounds_ + 1, kMostDoublings);
  delivered_per_packet_ = std::max<std::uint64_t>(window_bytes / packets, payload_bytes);
  delivered_bytes_ = 0;
}

void InFlightCeiling::raise(std::uint64_t newly_delivered_bytes, std::size_t payload_bytes) {
  delivered_bytes_ += newly_delivered_bytes;
  const auto packets = delivered_bytes_ / delivered_per_packet_;
  delivered_bytes_ -= packets * delivered_per_packet_;
  bytes_ += packets * payload_bytes;
}

}  // namespace udtcat::transport::native
