// SPDX-License-Identifier: Apache-2.0
/// Racing the addresses of a name, over UDP and TCP alike.  source: RFC 8305
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include <udtcat/endpoint.hpp>

namespace udtcat::net {

inline constexpr std::chrono::milliseconds kConnectionAttemptDelay{250};  // spec: RFC 8305 §5
inline constexpr std::size_t kMaxRacedAddresses = 16;                     // guess: nobody's name has more

/// The order of a race: families take turns, each in the order given, the first one's first; at most
/// kMaxRacedAddresses.  source: RFC 8305 §4
[[nodiscard]] std::vector<Endpoint> in_racing_order(const std::vector<Endpoint>& addresses);

}  // namespace udtcat::net
