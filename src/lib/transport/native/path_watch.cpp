// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/path_watch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <utility>

#include "lib/core/byte_order.hpp"
#include "lib/crypto/keyed_hash.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/transport/native/packet.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kChallengeGap = 50ms;    // guess: a peer that moved sends many packets
constexpr Duration kAnswerPatience = 2s;    // guess: longer than any round trip; then another address may be asked
constexpr Duration kTryGap = 250ms;         // guess: as a handshake is repeated
constexpr Duration kTryPatience = 10s;      // guess: a relay may be just starting
constexpr std::size_t kAskedAddresses = 4;  // guess: the peer's new one among a few strangers'

ControlMessage message_of(Extension kind, std::initializer_list<std::uint64_t> numbers) {
  ControlMessage message{ControlType::user, static_cast<std::uint16_t>(kind), 0, {}};
  for (const std::uint64_t number : numbers) append_number(message.words, number);
  return message;
}

/// The answer to a challenge of `nonce`: a keyed hash under both tokens, that of the end which answers first.  spec:
/// udt4.md §9
std::optional<std::uint64_t> proof_of(std::uint64_t nonce, std::uint64_t of, std::uint64_t for_whom) {
  std::array<std::byte, crypto::KeyedHash::kKeyBytes> key{};
  core::store_be(std::span(key).first<8>(), of);
  core::store_be(std::span(key).last<8>(), for_whom);
  auto hash = crypto::KeyedHash::create(key);
  if (!hash) return std::nullopt;
  std::array<std::byte, sizeof nonce> message{};
  core::store_be(std::span<std::byte>(message), nonce);
  const auto proof = hash->of(message);
  return proof ? std::optional(*proof) : std::nullopt;
}

}  // namespace

PathWatch::PathWatch(const Endpoint& peer, const std::optional<Endpoint>& local, Tokens tokens)
    : peer_(peer), local_(local), tokens_(tokens) {}

void PathWatch::try_address(TimePoint now, const Endpoint& address) {
  if (address == peer_ || address.family() != peer_.family()) return tried_.reset();
  tried_ = Tried{address, now, now + kTryPatience};
}

std::optional<Endpoint> PathWatch::poll_try(TimePoint now) {
  if (tried_ && now >= tried_->until) tried_.reset();
  if (!tried_ || now < tried_->next_at) return std::nullopt;
  tried_->next_at = now + kTryGap;
  return tried_->address;
}

std::optional<TimePoint> PathWatch::deadline() const { return tried_ ? std::optional(tried_->next_at) : std::nullopt; }

bool PathWatch::arrives_at(const Endpoint& from) {
  if (!tried_ || !(tried_->address == from)) return false;
  left_ = std::exchange(peer_, from);
  tried_.reset();
  return true;
}

/// An address that is being asked gets the same nonce again: the answer may need longer than the gap.
PathWatch::Asked* PathWatch::asked_of(TimePoint now, const Endpoint& from) {
  std::erase_if(asked_, [&](const Asked& each) { return now - each.first_at > kAnswerPatience; });
  const auto known = std::ranges::find(asked_, from, &Asked::address);
  if (known != asked_.end()) return now - known->at < kChallengeGap ? nullptr : &*known;
  if (asked_.size() >= kAskedAddresses) return nullptr;
  // The peer itself may lie about its address: it must not foresee what another address is asked.
  const auto nonce = crypto::random_u64();
  if (!nonce) return nullptr;
  return &asked_.emplace_back(Asked{from, std::nullopt, *nonce, now, now});
}

std::optional<ControlMessage> PathWatch::on_stranger(TimePoint now, const Endpoint& from,
                                                     const std::optional<Endpoint>& to) {
  Asked* const asked = asked_of(now, from);
  if (asked == nullptr) return std::nullopt;
  asked->local = to;
  asked->at = now;
  return message_of(Extension::path_challenge, {asked->nonce});
}

std::optional<ControlMessage> PathWatch::on_challenge(std::span<const std::byte> body) const {
  const auto nonce = number_at(body, 0);
  if (!nonce) return std::nullopt;
  const auto proof = proof_of(*nonce, tokens_.ours, tokens_.peers);
  if (!proof) return std::nullopt;
  return message_of(Extension::path_response, {*nonce, *proof});
}

bool PathWatch::on_response(const Endpoint& from, std::span<const std::byte> body) {
  const auto asked = std::ranges::find(asked_, from, &Asked::address);
  if (asked == asked_.end() || number_at(body, 0) != asked->nonce) return false;
  const auto proof = proof_of(asked->nonce, tokens_.peers, tokens_.ours);
  if (!proof || number_at(body, 2) != proof) return false;
  peer_ = asked->address;
  local_ = asked->local;
  left_.reset();
  asked_.clear();
  return true;
}

}  // namespace udtcat::transport::native
