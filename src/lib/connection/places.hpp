/// Places of those who try to prove the key, and who gives way when they are full. See docs/spec/handshake.md §7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "lib/core/prefix.hpp"

namespace udtcat::connection {

inline constexpr std::size_t kMaxProvedPlaces = 256;   // spec: handshake.md §7
inline constexpr std::size_t kMaxStrangerPlaces = 32;  // spec: handshake.md §7

/// Two classes that never touch each other. Of those whose first packets proved the key the oldest gives way: it may be a recording.
/// Of strangers the oldest of the prefix that holds the most gives way, so that a prefix keeps its share whatever others do.
/// Threads: unsynchronised.
class Places {
 public:
  using Id = std::uint64_t;

  /// returns   who has lost its place to `id`
  [[nodiscard]] std::optional<Id> take(Id id, bool proved, core::Prefix prefix);
  void leave(Id id);
  void clear();
  [[nodiscard]] bool full_of_strangers() const { return strangers_.size() >= kMaxStrangerPlaces; }

 private:
  struct Holder {
    Id id;
    core::Prefix prefix;
  };
  using OldestFirst = std::list<Holder>;
  [[nodiscard]] OldestFirst::iterator greediest();

  OldestFirst proved_;
  OldestFirst strangers_;
};

}  // namespace udtcat::connection
