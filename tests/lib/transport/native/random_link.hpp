// SPDX-License-Identifier: Apache-2.0
/// Random links, each made from a seed, and the performance of a connection on one.
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
///   queue      at least 4 packets and 100 us, as no host paces finer; with releases, what comes between two of them
///   time       so that a thousand take some minutes a product is at most 64 MB; above 1 Gbit/s packets have 9000 bytes
struct RandomLink {
  std::uint64_t seed = 0;
  PathSettings first;
  std::optional<PathSettings> later;  ///< from step_at() on

  /// In words.
  [[nodiscard]] std::string description() const;
  /// How long congestion control may take to find the path's rate, before it is measured.
  [[nodiscard]] Duration grace(const PathSettings& path) const;
  /// For how long it is measured.
  [[nodiscard]] Duration asked(const PathSettings& path) const;
  [[nodiscard]] Duration step_at() const { return grace(first) + asked(first); }
  /// Five round trips and a second, and after a step the time of the queue that it leaves.
  [[nodiscard]] Duration longest_silence() const;
};

[[nodiscard]] RandomLink link_of(std::uint64_t seed);

/// Payload in bits a second, which a sender that knows the path nearly reaches, however short the queue is:
///   link, policer  the slower of the two
///   losses         leave the rest; a little more is possible, as lost packets take no time on the wire behind
///   headers        of full packets
/// Late packets do not count: they need not be sent again.
[[nodiscard]] double goodput_bound(const PathSettings& path);

struct LinkResult {
  RandomLink link;
  double share = 0;           ///< of goodput_bound(): the lesser of those before and after the step
  Duration silence{0};        ///< the longest time without new data
  std::uint64_t packets = 0;  ///< sent
  double lost_share = 0;      ///< of those, dropped by queue and policer

  [[nodiscard]] bool is_fast() const { return share >= 0.5; }
  [[nodiscard]] bool goes_on() const { return silence <= link.longest_silence(); }
  [[nodiscard]] std::string line() const;
};

/// Carries an endless stream in one direction.
[[nodiscard]] LinkResult run_over(const RandomLink& link);

}  // namespace udtcat::transport::native
