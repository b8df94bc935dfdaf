// SPDX-License-Identifier: Apache-2.0
/// How a further channel proves that it is a flow of a session. See docs/spec/handshake.md §8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/crypto/secret_bytes.hpp"
#include "lib/session/parameters.hpp"

namespace udtcat::session {

inline constexpr std::size_t kProofBytes = 32;  // spec: handshake.md §8
using Proof = std::array<std::byte, kProofBytes>;

/// The connector's first words on a further channel.
struct Join {
  SessionId session_id{};
  std::uint8_t flow = 1;  ///< 1 .. kMaxFlows - 1
  Proof proof{};
  friend bool operator==(const Join&, const Join&) = default;
};

/// The listener's answer: it holds the key too, and has taken the flow.
struct Joined {
  Proof proof{};
  friend bool operator==(const Joined&, const Joined&) = default;
};

[[nodiscard]] std::vector<std::byte> encode(const Join& join);
[[nodiscard]] std::vector<std::byte> encode(const Joined& joined);
/// Total: any input gives a value or Errc::protocol_violated. `in` is one whole message.
[[nodiscard]] Result<Join> decode_join(std::span<const std::byte> in);
[[nodiscard]] Result<Joined> decode_joined(std::span<const std::byte> in);

/// The key of one session's flows, and its name. Compares in constant time.
/// Threads: immutable after construction.
class JoinKey {
 public:
  /// key   KeySchedule::flow_key(); zeros at clear
  JoinKey(crypto::Secret32 key, const SessionId& session_id) : key_(std::move(key)), session_id_(session_id) {}

  /// errors: Errc::cipher_failed
  [[nodiscard]] Result<Join> join(std::uint8_t flow) const;
  [[nodiscard]] Result<Joined> joined(std::uint8_t flow) const;
  /// Whether `join` names this session, whatever its proof.
  [[nodiscard]] bool is_meant_by(const Join& join) const { return crypto::same(join.session_id, session_id_); }
  /// errors: Errc::authentication_failed; Errc::cipher_failed
  [[nodiscard]] Status check(const Join& join) const;
  [[nodiscard]] Status check(const Joined& joined, std::uint8_t flow) const;

 private:
  crypto::Secret32 key_;
  SessionId session_id_;
};

}  // namespace udtcat::session
