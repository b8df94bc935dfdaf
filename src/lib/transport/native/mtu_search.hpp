// SPDX-License-Identifier: Apache-2.0
/// Finds the largest packets that the path carries, by probes of its own. ICMP, which anyone can forge, makes packets
/// smaller, and the search begin: never larger, and never smaller than every path's.
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
  /// Of IP packets. Begins with 1280 bytes, or what an earlier connection found if that was less.
  struct Sizes {
    std::size_t overhead_bytes = 0;  ///< of IP and UDP on this path
    std::size_t least_bytes = 0;     ///< every path carries them
    std::size_t most_bytes = 0;      ///< worth a try
    std::size_t found_bytes = 0;     ///< by an earlier connection; 0: none has looked
  };
  explicit MtuSearch(const Sizes& sizes);

  /// UDT packet bytes (headers of IP and UDP excluded) that are known to arrive.
  [[nodiscard]] std::size_t packet_bytes() const { return packet_bytes_of(known_); }
  /// The packet size that every path must carry.
  [[nodiscard]] std::size_t least_packet_bytes() const { return packet_bytes_of(least_); }
  /// The size is not the one that a search begins with: it was found.
  [[nodiscard]] bool has_found() const { return known_ != base_; }

  /// It is less than what a search begins with.
  [[nodiscard]] bool is_narrow() const { return known_ < base_; }

  /// The size of the probe to send now; none if none is due.
  [[nodiscard]] std::optional<std::size_t> poll_probe(TimePoint now, Duration answer_time);
  [[nodiscard]] std::optional<TimePoint> deadline() const;
  /// The peer has received a probe of that size.  returns   whether packets may grow
  [[nodiscard]] bool on_reply(TimePoint now, std::size_t packet_bytes);
  /// The system says that a probe of that size cannot leave.
  void on_too_large(TimePoint now, std::size_t packet_bytes);
  /// Packets vanish: back to 1280 bytes, or from there to the least.
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
  const std::size_t steps_;       // worth a try
  const std::size_t least_;       // step that every path takes
  const std::size_t base_;        // step to begin with
  std::size_t known_;             // step that is known to pass
  std::size_t least_failed_;      // step that is believed not to
  std::size_t candidate_;         // step being tried
  std::uint32_t attempts_ = 0;    // of the candidate
  std::optional<TimePoint> due_;  // none: the search is over
};

}  // namespace udtcat::transport::native
