// SPDX-License-Identifier: Apache-2.0
/// Answers to packets of connections that are closed, or unknown to this process: SHUTDOWN, or a stateless reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/keyed_hash.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/prefix_meter.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Connections that were closed within a minute, as in TCP's TIME-WAIT. The oldest entries give way to new ones.
/// Threads: unsynchronised; time is a parameter.
class ClosedConnections {
 public:
  void add(TimePoint now, std::uint32_t id, const Endpoint& peer, std::vector<std::byte> shutdown);
  /// The SHUTDOWN that answers a packet for `id` from `from`.  null: no answer; a SHUTDOWN has none
  [[nodiscard]] const std::vector<std::byte>* answer(TimePoint now, std::uint32_t id, const Endpoint& from,
                                                     std::span<const std::byte> packet);
  [[nodiscard]] bool knows(std::uint32_t id) const { return entries_.contains(id); }

 private:
  struct Entry {
    Endpoint peer;
    std::vector<std::byte> shutdown;
    TimePoint until;
    TimePoint next_answer;
  };
  std::unordered_map<std::uint32_t, Entry> entries_;
  std::deque<std::uint32_t> oldest_first_;
};

inline constexpr std::size_t kResetBytes = kHeaderBytes + 8;  // spec: udt4.md §11

/// Says that the socket `id` does not exist: RFC 9000 §10.3. Its token is known to this host and that socket's peer.
struct StatelessReset {
  std::uint32_t id = 0;
  std::uint64_t token = 0;
};
[[nodiscard]] std::vector<std::byte> encode(const StatelessReset& reset);
/// none: another packet
[[nodiscard]] std::optional<StatelessReset> decode_reset(std::span<const std::byte> packet);

/// A token is a keyed hash of the peer and the socket: a process that is started again has those of the one before.
/// Threads: unsynchronised; time is a parameter.
class StatelessResets {
 public:
  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<StatelessResets> create(std::span<const std::byte, crypto::KeyedHash::kKeyBytes> key,
                                                      std::uint16_t local_port);

  /// The token by which `peer` knows the socket `id` of this port.  errors   Errc::cipher_failed
  [[nodiscard]] Result<std::uint64_t> token_of(std::uint32_t id, const Endpoint& peer);
  /// The answer to a packet for a socket that does not exist. Never larger than the packet, never to a reset, a
  /// SHUTDOWN or a handshake, and a limited number a second.  empty: silence
  [[nodiscard]] std::vector<std::byte> answer(TimePoint now, std::span<const std::byte> packet, const Endpoint& from);

 private:
  StatelessResets(crypto::KeyedHash hash, std::uint16_t local_port, PrefixMeter meter)
      : hash_(std::move(hash)), local_port_(local_port), meter_(std::move(meter)) {}

  crypto::KeyedHash hash_;
  std::uint16_t local_port_;
  PrefixMeter meter_;
};

}  // namespace udtcat::transport::native
