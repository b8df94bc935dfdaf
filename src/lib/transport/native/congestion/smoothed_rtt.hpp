/// The round trip as it usually is.
#pragma once

#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// source: RFC 6298 §2 (SRTT)
/// Threads: unsynchronised.
class SmoothedRtt {
 public:
  void update(Duration rtt) { value_ = value_ ? (*value_ * 7 + rtt) / 8 : rtt; }
  [[nodiscard]] std::optional<Duration> value() const { return value_; }

 private:
  std::optional<Duration> value_;
};

}  // namespace udtcat::transport::native
