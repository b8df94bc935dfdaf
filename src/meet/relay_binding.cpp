// SPDX-License-Identifier: Apache-2.0
#include "meet/relay_binding.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/meeting/username.hpp"
#include "lib/net/address_bytes.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meet {

namespace {

constexpr std::uint64_t kNonceMinutes = 2;  // spec: docs/spec/meet.md §5

bool is_same(const std::string& secret, const std::string& guess) {
  return crypto::same(std::as_bytes(std::span(secret)), std::as_bytes(std::span(guess)));
}

std::uint64_t minute_of(RelayBinding::TimePoint now) {
  return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()).count());
}

}  // namespace

Result<RelayBinding> RelayBinding::create(const RelayTokens& tokens) {
  UDTCAT_TRY(crypto::KeyedHash hash, crypto::KeyedHash::create());
  return RelayBinding(tokens, std::move(hash));
}

RelayBinding::RelayBinding(const RelayTokens& tokens, crypto::KeyedHash hash) : hash_(std::move(hash)) {
  std::ranges::transform(tokens, usernames_.begin(), meeting::username_of);
}

std::optional<RelayBinding::Outcome> RelayBinding::handle(std::span<const std::byte> datagram, const Endpoint& from,
                                                          TimePoint now) {
  if (!net::is_stun(datagram)) return std::nullopt;
  const auto request = net::decode_stun(datagram);
  if (!request || !request->username) return std::nullopt;
  const auto role = role_of(*request->username);
  if (!role) return std::nullopt;
  // A token is for this host alone: whatever else the message is, it goes no further.
  if (request->type != net::StunMessage::Type::request || !request->unknown.empty()) return Outcome{};
  const std::uint64_t minute = minute_of(now);
  net::StunMessage answer{.type = net::StunMessage::Type::success, .transaction = request->transaction};
  Outcome outcome;
  if (request->nonce && is_ours(*request->nonce, from, minute)) {
    answer.mapped_address = from;
    outcome.role = role;
  } else {
    auto nonce = nonce_of(from, minute);
    if (!nonce) return Outcome{};
    answer.type = net::StunMessage::Type::error;
    answer.error = net::StunMessage::ErrorCode{net::StunMessage::kStaleNonce, "Stale Nonce"};
    answer.nonce = std::move(*nonce);
  }
  outcome.answer = net::encode(answer);
  if (outcome.answer.size() > datagram.size()) outcome.answer.clear();
  return outcome;
}

std::optional<PairRole> RelayBinding::role_of(const std::string& username) const {
  for (const PairRole role : {PairRole::listener, PairRole::connector})
    if (is_same(usernames_[index_of(role)], username)) return role;
  return std::nullopt;
}

Result<std::string> RelayBinding::nonce_of(const Endpoint& address, std::uint64_t minute) {
  std::array<std::byte, sizeof(std::uint16_t) + sizeof(std::uint64_t) + 16> message{};
  const auto bytes = net::address_bytes(address);
  core::store_be(message, address.port());
  core::store_be(std::span(message).subspan(sizeof(std::uint16_t)), minute);
  std::ranges::copy(bytes, message.begin() + sizeof(std::uint16_t) + sizeof(std::uint64_t));
  UDTCAT_TRY(const std::uint64_t hash, hash_.of(std::span(message).first(message.size() - 16 + bytes.size())));
  return fmt::format("{:016x}", hash);
}

bool RelayBinding::is_ours(const std::string& nonce, const Endpoint& address, std::uint64_t minute) {
  for (std::uint64_t age = 0; age < kNonceMinutes; ++age) {
    const auto expected = nonce_of(address, minute - age);
    if (expected && is_same(*expected, nonce)) return true;
  }
  return false;
}

}  // namespace udtcat::meet
