// SPDX-License-Identifier: Apache-2.0
/// Turns at something of which there is little.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace udtcat::bridge {

/// Owners bring items, each its own in their order. The owners take turns, and none has more than its share under way,
/// however many items it brings.
/// Threads: unsynchronised.
template <typename Owner, typename Item>
class Turns {
 public:
  struct Turn {
    Owner owner;
    Item item;
  };

  /// most, most_of_one   items under way at a time: of all owners together, and of each
  Turns(std::size_t most, std::size_t most_of_one) : most_(most), most_of_one_(most_of_one) {}

  void add(const Owner& owner, Item item) {
    lines_[owner].waiting.push_back(std::move(item));
    queue(owner);
  }
  /// An item that waits, waits no longer.
  void remove(const Owner& owner, const Item& item) {
    const auto at = lines_.find(owner);
    if (at == lines_.end()) return;
    Line& line = at->second;
    std::erase(line.waiting, item);
    if (!line.waiting.empty()) return;
    if (std::exchange(line.queued, false)) std::erase(queue_, owner);
    if (line.under_way == 0) lines_.erase(at);
  }
  /// The next item, which is under way until done().  none: nobody waits who may have more under way
  [[nodiscard]] std::optional<Turn> next() {
    while (under_way_ < most_ && !queue_.empty()) {
      const Owner owner = queue_.front();
      queue_.pop_front();
      Line& line = lines_.at(owner);
      line.queued = false;
      std::optional<Turn> turn;
      if (!line.waiting.empty()) {
        turn = Turn{owner, std::move(line.waiting.front())};
        line.waiting.pop_front();
        ++line.under_way;
        ++under_way_;
      }
      queue(owner);
      if (turn) return turn;
    }
    return std::nullopt;
  }
  /// An item of the owner's is under way no longer.
  void done(const Owner& owner) {
    --lines_.at(owner).under_way;
    --under_way_;
    queue(owner);
  }

 private:
  struct Line {
    std::deque<Item> waiting;
    std::size_t under_way = 0;
    bool queued = false;
  };

  void queue(const Owner& owner) {
    const auto at = lines_.find(owner);
    Line& line = at->second;
    if (line.queued) return;
    if (!line.waiting.empty() && line.under_way < most_of_one_) {
      line.queued = true;
      queue_.push_back(owner);
    } else if (line.waiting.empty() && line.under_way == 0) {
      lines_.erase(at);
    }
  }

  const std::size_t most_;
  const std::size_t most_of_one_;
  std::size_t under_way_ = 0;
  std::map<Owner, Line> lines_;
  std::deque<Owner> queue_;  // each that waits and may have more under way, once
};

}  // namespace udtcat::bridge
