#include "lib/transport/native/congestion/fixed_rate.hpp"

#include <algorithm>
#include <chrono>

#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native {

namespace {

constexpr unsigned kRoundTrips = 2;                              // guess: one to arrive, one for what must come again
constexpr Duration kLeastTime = std::chrono::milliseconds(100);  // guess: ten of a receiver's acknowledgements

}  // namespace

void FixedRate::on_ack(const AckEvent& event) {
  if (event.rtt) rtt_.update(*event.rtt);
}

std::uint64_t FixedRate::window_bytes() const {
  if (rate_.unlimited()) return kUnbounded;
  const auto time = std::max(kRoundTrips * rtt_.value().value_or(Duration{0}), kLeastTime);
  return std::max<std::uint64_t>(bytes_during(rate_, time), kInitialWindowPackets * payload_bytes_);
}

}  // namespace udtcat::transport::native
