// SPDX-License-Identifier: Apache-2.0
/// Binding at a relay's port: which address is which end's (docs/spec/meet.md §5). No input or output here.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/keyed_hash.hpp"
#include "lib/meeting/message.hpp"

namespace udtcat::meet {

/// The two ends of a pair, as indices.
enum class PairRole : std::uint8_t { listener, connector };
inline constexpr std::size_t kPairRoles = 2;  // spec: docs/spec/meet.md §5
[[nodiscard]] constexpr std::size_t index_of(PairRole role) { return static_cast<std::size_t>(role); }
[[nodiscard]] constexpr PairRole other_than(PairRole role) {
  return role == PairRole::listener ? PairRole::connector : PairRole::listener;
}

/// By which each end is known at its pair's port. Random, and the end's alone.
using RelayTokens = std::array<meeting::Relay::Token, kPairRoles>;

/// Threads: unsynchronised.
class RelayBinding {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Outcome {
    std::vector<std::byte> answer{};  ///< never longer than the request; empty: none
    std::optional<PairRole> role{};   ///< whose address this is, proved by a NONCE
  };

  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<RelayBinding> create(const RelayTokens& tokens);

  /// Total: any datagram may come.
  /// returns  none: it is no STUN message with a token of this pair's
  [[nodiscard]] std::optional<Outcome> handle(std::span<const std::byte> datagram, const Endpoint& from, TimePoint now);

 private:
  RelayBinding(const RelayTokens& tokens, crypto::KeyedHash hash);
  [[nodiscard]] std::optional<PairRole> role_of(const std::string& username) const;
  [[nodiscard]] Result<std::string> nonce_of(const Endpoint& address, std::uint64_t minute);
  [[nodiscard]] bool is_ours(const std::string& nonce, const Endpoint& address, std::uint64_t minute);

  std::array<std::string, kPairRoles> usernames_;
  crypto::KeyedHash hash_;
};

}  // namespace udtcat::meet
