// SPDX-License-Identifier: Apache-2.0
/// Finds the largest packets that the path carries, by probes of its own: ICMP, which anyone can forge, is not asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Asks the peer, one of ours, to answer packets of growing size. Between our own ends only: another would not answer.
/// source: RFC 8899, with the sizes that links really have instead of a bisection.
/// Threads: unsynchronised; time is a parameter.
class MtuSearch {
 public:
  /// overhead_bytes   of IP and UDP on this path
  /// most_bytes       the largest IP packet worth a try
  MtuSearch(std::size_t overhead_bytes, std::size_t most_bytes);

  /// UDT packet bytes (headers of IP and UDP excluded) that are known to arrive.
  [[nodiscard]] std::size_t packet_bytes() const { return packet_bytes_of(known_); }
  /// The packet size that every path must carry.
  [[nodiscard]] std::size_t base_packet_bytes() const;

  /// The size of the probe to send now; none if none is due.
  [[nodiscard]] std::optional<std::size_t> poll_probe(TimePoint now, Duration answer_time);
  [[nodiscard]] std::optional<TimePoint> deadline() const;
  /// The peer has received a probe of that size.  returns   whether packets may grow
  [[nodiscard]] bool on_reply(TimePoint now, std::size_t packet_bytes);
  /// The system says that a probe of that size cannot leave.
  void on_too_large(TimePoint now, std::size_t packet_bytes);
  /// Large packets vanish: back to the base, and nothing larger for a while.
  void on_black_hole(TimePoint now);

 private:
  [[nodiscard]] std::size_t packet_bytes_of(std::size_t step) const;
  void next_candidate(TimePoint now);

  const std::size_t overhead_bytes_;
  const std::size_t most_bytes_;
  const std::size_t steps_;       // worth a try
  std::size_t known_ = 0;         // step that is known to pass
  std::size_t least_failed_;      // step that is believed not to
  std::size_t candidate_;         // step being tried
  std::uint32_t attempts_ = 0;    // of the candidate
  std::optional<TimePoint> due_;  // none: the search is over
};

}  // namespace udtcat::transport::native
