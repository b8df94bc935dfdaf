/// Connections that are no more, for peers that have not heard.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// For a minute whoever sends to a closed connection is told that it is closed. The oldest give way to new ones.
/// Threads: unsynchronised; time is a parameter.
class Tombstones {
 public:
  void add(TimePoint now, std::uint32_t id, const Endpoint& peer, std::vector<std::byte> goodbye);
  /// What to answer a packet for `id` from `from`; null: nothing. A goodbye is not answered with another.
  [[nodiscard]] const std::vector<std::byte>* answer(TimePoint now, std::uint32_t id, const Endpoint& from,
                                                     std::span<const std::byte> packet);
  [[nodiscard]] bool knows(std::uint32_t id) const { return stones_.contains(id); }

 private:
  struct Stone {
    Endpoint peer;
    std::vector<std::byte> goodbye;
    TimePoint until;
    TimePoint next_answer;
  };
  std::unordered_map<std::uint32_t, Stone> stones_;
  std::deque<std::uint32_t> oldest_first_;
};

}  // namespace udtcat::transport::native
