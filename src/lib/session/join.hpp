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

/// Which channel is meant. The channel of the handshake is flow 0, attempt 0.
struct FlowName {
  std::uint8_t flow = 0;      ///< 0 .. kMaxFlows - 1
  std::uint32_t attempt = 0;  ///< rises with each channel that the connector dials for this flow
  friend bool operator==(const FlowName&, const FlowName&) = default;
};

/// The connector's first words on a further channel, which takes the place of the flow's earlier one, if there was one.
struct Join {
  SessionId session_id{};
  FlowName name{0, 1};  ///< attempts begin with 1
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

  [[nodiscard]] const SessionId& session_id() const { return session_id_; }
  /// errors: Errc::cipher_failed
  [[nodiscard]] Result<Join> join(const FlowName& name) const;
  [[nodiscard]] Result<Joined> joined(const FlowName& name) const;
  /// Whether `join` names this session, whatever its proof.
  [[nodiscard]] bool is_meant_by(const Join& join) const { return crypto::same(join.session_id, session_id_); }
  /// errors: Errc::authentication_failed; Errc::cipher_failed
  [[nodiscard]] Status check(const Join& join) const;
  [[nodiscard]] Status check(const Joined& joined, const FlowName& name) const;

 private:
  crypto::Secret32 key_;
  SessionId session_id_;
};

}  // namespace udtcat::session
