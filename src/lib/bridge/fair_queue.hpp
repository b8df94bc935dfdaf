// SPDX-License-Identifier: Apache-2.0
/// A fair queue: round robin among owners, with a limit for each.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace udtcat::bridge {

/// Each owner's items keep their order. The owners take turns, and each has a limited number of items under way.
/// Threads: unsynchronised.
template <typename Owner, typename Item>
class FairQueue {
 public:
  struct Entry {
    Owner owner;
    Item item;
  };

  /// most, most_of_one   items under way at a time: of all owners together, and of each
  FairQueue(std::size_t most, std::size_t most_of_one) : most_(most), most_of_one_(most_of_one) {}

  void add(const Owner& owner, Item item) {
    owners_[owner].waiting.push_back(std::move(item));
    queue(owner);
  }
  void remove(const Owner& owner, const Item& item) {
    const auto at = owners_.find(owner);
    if (at == owners_.end()) return;
    OwnerQueue& own = at->second;
    std::erase(own.waiting, item);
    if (!own.waiting.empty()) return;
    if (std::exchange(own.queued, false)) std::erase(queue_, owner);
    if (own.under_way == 0) owners_.erase(at);
  }
  /// The next item, which is under way until done().  none: nobody waits who may have more under way
  [[nodiscard]] std::optional<Entry> next() {
    while (under_way_ < most_ && !queue_.empty()) {
      const Owner owner = queue_.front();
      queue_.pop_front();
      OwnerQueue& own = owners_.at(owner);
      own.queued = false;
      std::optional<Entry> entry;
      if (!own.waiting.empty()) {
        entry = Entry{owner, std::move(own.waiting.front())};
        own.waiting.pop_front();
        ++own.under_way;
        ++under_way_;
      }
      queue(owner);
      if (entry) return entry;
    }
    return std::nullopt;
  }
  void done(const Owner& owner) {
    --owners_.at(owner).under_way;
    --under_way_;
    queue(owner);
  }

 private:
  struct OwnerQueue {
    std::deque<Item> waiting;
    std::size_t under_way = 0;
    bool queued = false;
  };

  void queue(const Owner& owner) {
    const auto at = owners_.find(owner);
    OwnerQueue& own = at->second;
    if (own.queued) return;
    if (!own.waiting.empty() && own.under_way < most_of_one_) {
      own.queued = true;
      queue_.push_back(owner);
    } else if (own.waiting.empty() && own.under_way == 0) {
      owners_.erase(at);
    }
  }

  const std::size_t most_;
  const std::size_t most_of_one_;
  std::size_t under_way_ = 0;
  std::map<Owner, OwnerQueue> owners_;
  std::deque<Owner> queue_;  // each that waits and may have more under way, once
};

}  // namespace udtcat::bridge
