// SPDX-License-Identifier: Apache-2.0
/// Links as chance makes them, each from the number that it is called by; and how a connection does on one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/transport/native/simulated_link.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Rates of 64 kbit/s to 10 Gbit/s, round trips of 1 to 700 ms, queues of 0.05 to 10 products of the two, some with
/// losses of up to 30 %, singly or in bursts, packets that come late, policers, releases in bursts, or a step.
///   queue      holds 4 packets and 100 us at least: no host paces finer; with releases, what comes between two of them
///   time       a thousand take some minutes: a product is at most 64 MB, and above 1 Gbit/s packets have 9000 bytes
struct RandomLink {
  std::uint64_t seed = 0;
  PathSettings first;
  std::optional<PathSettings> later;  ///< from step_at() on

  /// As a person would say it.
  [[nodiscard]] std::string description() const;
  /// Until the law may be asked how well it does: to find the path, and to find it again.
  [[nodiscard]] Duration grace(const PathSettings& path) const;
  /// For so long it is asked.
  [[nodiscard]] Duration asked(const PathSettings& path) const;
  [[nodiscard]] Duration step_at() const { return grace(first) + asked(first); }
  /// Five round trips and a second; a step may leave a queue besides, which has to drain.
  [[nodiscard]] Duration longest_silence() const;
};

[[nodiscard]] RandomLink link_of(std::uint64_t seed);

/// Payload in bits a second, which a sender that knows the path reaches but for little, however short the queue is:
///   link, policer  the slower of the two
///   losses         leave the rest; a little more is possible, as what is lost takes no room on the link behind
///   headers        of full packets
/// Nothing is taken off for packets that come late: they need not be sent again.
[[nodiscard]] double goodput_bound(const PathSettings& path);

struct LinkResult {
  RandomLink link;
  double share = 0;           ///< of the bound, where it was least: before the step, or after it
  Duration silence{0};        ///< the longest time in which nothing came
  std::uint64_t packets = 0;  ///< sent
  double lost_share = 0;      ///< of those, in queue and policer

  [[nodiscard]] bool is_fast() const { return share >= 0.5; }
  [[nodiscard]] bool goes_on() const { return silence <= link.longest_silence(); }
  [[nodiscard]] std::string line() const;
};

/// A stream without end, in one direction.
[[nodiscard]] LinkResult run_over(const RandomLink& link);

}  // namespace udtcat::transport::native
