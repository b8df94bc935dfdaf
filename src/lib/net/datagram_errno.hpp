/// What the errno of a send or a receive means to us; the same for every system.
#pragma once

#include <cerrno>
#include <cstddef>

#include "lib/net/datagram_socket.hpp"

namespace udtcat::net {

/// How often a call is made until its error is taken for its own. ICMP errors of earlier datagrams are told once each, by
/// whichever call comes next.
inline constexpr int kCallAttempts = 3;  // guess: two such errors may come between two calls

/// There is no room, or nothing there, now.
[[nodiscard]] inline bool is_passing(int errno_value) {
  return errno_value == EAGAIN || errno_value == EWOULDBLOCK || errno_value == ENOBUFS || errno_value == ENOMEM;
}

/// Makes `call` until it gives no error or one that is its own. Gives what it gave, or its errno as a negative number.
template <typename Call>
[[nodiscard]] int past_pending_errors(Call&& call) {
  for (int attempt = 1;; ++attempt) {
    const auto given = call();
    if (given >= 0) return static_cast<int>(given);
    const int errno_value = errno;
    if (attempt == kCallAttempts || is_passing(errno_value)) return -errno_value;
  }
}

/// How a send ended that had `taken` datagrams taken before this errno.
[[nodiscard]] inline SendResult ended_by(int errno_value, std::size_t taken) {
  // The socket counts as writable all the while.
  if (errno_value == ENOBUFS || errno_value == ENOMEM) return {SendState::no_memory, taken, 0};
  if (is_passing(errno_value)) return {SendState::would_block, taken, 0};
  if (errno_value == EMSGSIZE) return {SendState::too_large, taken, 0};
  return {SendState::failed, taken, errno_value};
}

}  // namespace udtcat::net
