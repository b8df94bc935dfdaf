// SPDX-License-Identifier: Apache-2.0
/// Packetization layer path MTU discovery: finds the largest packets that the path carries, by probes. ICMP, which
/// anyone can forge, only makes packets smaller, not below the least MTU of IP, and begins a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Probes have the sizes that links really have; the peer, one of ours, answers each.
/// source: RFC 8899
/// Threads: unsynchronised; time is a parameter.
class MtuSearch {
 public:
  /// Sizes of IP packets. The search begins with 1280 bytes, or with found_bytes if that is less.
  struct Sizes {
    std::size_t overhead_bytes = 0;  ///< of IP's and UDP's headers
    std::size_t least_bytes = 0;     ///< that every path carries
    std::size_t most_bytes = 0;      ///< worth a try
    std::size_t found_bytes = 0;     ///< by an earlier connection; 0: by none
  };
  explicit MtuSearch(const Sizes& sizes);

  /// Of UDT packets, without the headers of IP and UDP: the largest size that is known to arrive.
  [[nodiscard]] std::size_t packet_bytes() const { return packet_bytes_of(known_); }
  /// The packet size that every path must carry.
  [[nodiscard]] std::size_t least_packet_bytes() const { return packet_bytes_of(least_); }
  /// packet_bytes() is not the size that a search begins with.
  [[nodiscard]] bool has_found() const { return known_ != base_; }

  /// packet_bytes() is less than what a search begins with.
  [[nodiscard]] bool is_narrow() const { return known_ < base_; }

  /// The size of the probe to send now; none if none is due.
  [[nodiscard]] std::optional<std::size_t> poll_probe(TimePoint now, Duration answer_time);
  [[nodiscard]] std::optional<TimePoint> deadline() const;
  /// The peer has received a probe of that size.  returns   whether packets may grow
  [[nodiscard]] bool on_reply(TimePoint now, std::size_t packet_bytes);
  /// The system says that a probe of that size cannot leave.
  void on_too_large(TimePoint now, std::size_t packet_bytes);
  /// Full packets are lost and smaller ones are not: back to 1280 bytes, or from there to the least.
  void on_black_hole(TimePoint now);
  /// A router says that IP packets of more than `ip_bytes` do not pass.  returns   whether packets shrink
  [[nodiscard]] bool on_router_says(TimePoint now, std::size_t ip_bytes);

 private:
  [[nodiscard]] std::size_t packet_bytes_of(std::size_t step) const;
  void next_candidate(TimePoint now);

  [[nodiscard]] std::size_t step_within(std::size_t ip_bytes) const;
  void search(TimePoint now);

  const std::size_t overhead_bytes_;
  const std::size_t most_bytes_;
  const std::size_t steps_;       // to try: see kSteps
  const std::size_t least_;       // the step that every path carries
  const std::size_t base_;        // the step to begin with
  std::size_t known_;             // the largest step that is known to pass
  std::size_t least_failed_;      // the least step that did not pass
  std::size_t candidate_;         // the step that is tried
  std::uint32_t attempts_ = 0;    // of the candidate
  std::optional<TimePoint> due_;  // none: the search is over
};

}  // namespace udtcat::transport::native
