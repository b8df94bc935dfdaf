/// What a sender remembers of a packet until it is acknowledged.
#pragma once

#include <cstdint>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Where the connection stood when a packet left: the start of a delivery rate sample.
struct DeliverySnapshot {
  std::uint64_t delivered_bytes = 0;
  TimePoint delivered_at{};
  TimePoint first_sent_at{};
  std::uint64_t in_flight_bytes = 0;
  std::uint64_t lost_bytes = 0;
  bool app_limited = false;
};

struct SentPacket {
  std::uint64_t offset = 0;  ///< in the byte stream
  std::uint32_t bytes = 0;   ///< of payload
  std::uint16_t sends = 0;
  bool waits_for_repair = false;  ///< found lost and not sent again yet
  bool presumed = false;          ///< a plain peer missed what is around it, and not this one
  bool gone = false;              ///< sent longer ago than an answer takes: no longer in flight, whatever became of it
  TimePoint sent_at{};            ///< the last time
  DeliverySnapshot snapshot;      ///< of the last time
};

}  // namespace udtcat::transport::native
