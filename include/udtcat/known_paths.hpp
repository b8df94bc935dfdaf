// SPDX-License-Identifier: Apache-2.0
/// Paths that earlier connections got to know, so that the next begins where they were.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/endpoint.hpp>
#include <udtcat/units.hpp>

namespace udtcat {

/// Nothing in it is believed: a path that has changed shows within a round trip.
struct KnownPath {
  BitRate rate{};                    ///< of payload that arrived, when nothing but the path limited it; 0: not known
  std::chrono::microseconds rtt{0};  ///< the least round trip
  std::uint32_t cookie = 0;      ///< by which the peer's port knows this host again (docs/spec/udt4.md §4); 0: none
  std::size_t packet_bytes = 0;  ///< of IP, the most that it was found to carry; 0: not known
  bool loses_trains = false;     ///< what the kernel or the device cuts is lost; single datagrams arrive
};

/// Set in TransportOptions. A peer is its host: the port says nothing.
/// Threads: called on the io_context's thread of each connection; an implementation for several synchronises.
class KnownPaths {
 public:
  virtual ~KnownPaths() = default;
  /// Answers at once: no disk is read here.
  [[nodiscard]] virtual std::optional<KnownPath> find(const Endpoint& peer) = 0;
  /// A connection to `peer` is over, or has found out that the path is narrow or loses trains. At once, likewise.
  virtual void note(const Endpoint& peer, const KnownPath& path) = 0;
};

}  // namespace udtcat
