/// How much of something that is shared out each prefix has.
#pragma once

#include <cstddef>
#include <map>

#include "lib/core/prefix.hpp"

namespace udtcat::core {

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
