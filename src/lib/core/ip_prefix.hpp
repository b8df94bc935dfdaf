// SPDX-License-Identifier: Apache-2.0
/// IP prefixes that one host or site controls, and how much of a shared resource each of them has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <udtcat/endpoint.hpp>

namespace udtcat::core {

/// The first bits of an address, as a number; never the same for the two families.
using Prefix = std::uint64_t;

/// The prefix of a site: /24 or /56.
[[nodiscard]] Prefix prefix_of(const Endpoint& endpoint);
/// The prefix of a host: /32 or /64.
[[nodiscard]] Prefix host_of(const Endpoint& endpoint);

/// How much of something that is shared out each prefix has.
/// Threads: unsynchronised.
class PrefixCounts {
 public:
  void add(Prefix prefix) {
    ++held_[prefix];
    ++all_;
  }
  /// Of what was added.
  void remove(Prefix prefix) {
    const auto at = held_.find(prefix);
    if (--at->second == 0) held_.erase(at);
    --all_;
  }
  [[nodiscard]] std::size_t of(Prefix prefix) const {
    const auto at = held_.find(prefix);
    return at == held_.end() ? 0 : at->second;
  }
  [[nodiscard]] std::size_t all() const { return all_; }

 private:
  std::map<Prefix, std::size_t> held_;  // none of them 0
  std::size_t all_ = 0;
};

}  // namespace udtcat::core
