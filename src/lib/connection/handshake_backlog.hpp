// SPDX-License-Identifier: Apache-2.0
/// Handshakes in progress, and which of them is dropped when there are too many. See docs/spec/handshake.md §7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "lib/core/ip_prefix.hpp"

namespace udtcat::connection {

inline constexpr std::size_t kMaxProvedHandshakes = 256;   // spec: handshake.md §7
inline constexpr std::size_t kMaxUnprovedHandshakes = 32;  // spec: handshake.md §7

/// Peers whose first packets proved the key, and the others, have limits of their own. Beyond its limit a class drops
/// the oldest of the prefix that has the most, so that no prefix takes another's share: the proof of a peer may be a
/// recording, or made by anybody from a public key.
/// Threads: unsynchronised.
class HandshakeBacklog {
 public:
  using Id = std::uint64_t;

  /// returns   the handshake that is dropped in favour of `id`
  [[nodiscard]] std::optional<Id> add(Id id, bool proved, core::Prefix prefix);
  void remove(Id id);
  void clear();
  [[nodiscard]] bool full_of_unproved() const { return unproved_.size() >= kMaxUnprovedHandshakes; }

 private:
  struct Entry {
    Id id;
    core::Prefix prefix;
  };
  using OldestFirst = std::list<Entry>;
  [[nodiscard]] static OldestFirst::iterator oldest_of_largest_prefix(OldestFirst& alike);

  OldestFirst proved_;
  OldestFirst unproved_;
};

}  // namespace udtcat::connection
