// SPDX-License-Identifier: Apache-2.0
/// A policer for each flow: what clouds call the limit for a single flow.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>

#include <udtcat/units.hpp>

#include "wan/flow.hpp"
#include "wan/policer.hpp"
#include "wan/time.hpp"

namespace udtcat::wan {

/// A bucket of its own for each flow, full at first. Of more than kMostFlows the one goes that has been idle longest.
/// Threads: unsynchronised.
class FlowPolicer {
 public:
  /// As Policer::set(), for each flow.
  void set(BitRate rate, std::size_t bucket_bytes, TimePoint now);
  /// The flow's own, until the next call.
  [[nodiscard]] Policer& of(const Flow& flow, TimePoint now);

  static constexpr std::size_t kMostFlows = 1024;  // guess: a bench has some dozens

 private:
  struct Entry {
    Flow flow;
    Policer policer;
  };
  struct FlowHash {
    std::size_t operator()(const Flow& flow) const { return static_cast<std::size_t>(hash_of(flow)); }
  };
  using Entries = std::list<Entry>;

  BitRate rate_{};
  Policer unlimited_;  // everybody's without a rate
  std::size_t bucket_bytes_ = 0;
  Entries entries_;  // the one that was used last comes first
  std::unordered_map<Flow, Entries::iterator, FlowHash> by_flow_;
};

}  // namespace udtcat::wan
