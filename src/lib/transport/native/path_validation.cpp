// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/path_validation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <utility>

#include "lib/core/byte_order.hpp"
#include "lib/crypto/keyed_hash.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kChallengeGap = 50ms;  // guess: a peer that moved sends many packets
constexpr Duration kAnswerPatience = 2s;  // guess: longer than any round trip; then another address may be challenged
constexpr Duration kProbePatience = 10s;  // guess: a relay may be about to start
constexpr std::size_t kChallengedAddresses = 4;  // guess: the peer's new one, and a few others'

ControlMessage message_of(Extension kind, std::initializer_list<std::uint64_t> numbers) {
  ControlMessage message{ControlType::user, static_cast<std::uint16_t>(kind), 0, {}};
  for (const std::uint64_t number : numbers) append_number(message.words, number);
  return message;
}

/// The response to a challenge: a keyed hash of the nonce under both tokens, the first that of the end that responds.
/// spec: udt4.md §9
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

PathValidation::PathValidation(const Endpoint& peer, const std::optional<Endpoint>& local, Tokens tokens)
    : peer_(peer), local_(local), tokens_(tokens) {}

void PathValidation::try_address(TimePoint now, const Endpoint& address, Duration gap) {
  if (address == peer_ || address.family() != peer_.family()) return candidate_.reset();
  candidate_ = Candidate{.address = address, .gap = gap, .next_at = now, .until = now + kProbePatience};
}

std::optional<Endpoint> PathValidation::poll_try(TimePoint now) {
  if (candidate_ && now >= candidate_->until) candidate_.reset();
  if (!candidate_ || now < candidate_->next_at) return std::nullopt;
  candidate_->next_at = now + candidate_->gap;
  return candidate_->address;
}

std::optional<TimePoint> PathValidation::deadline() const {
  return candidate_ ? std::optional(candidate_->next_at) : std::nullopt;
}

bool PathValidation::on_challenge_from(const Endpoint& from) {
  if (!candidate_ || !(candidate_->address == from)) return false;
  candidate_->challenged = true;
  return true;
}

std::optional<ControlMessage> PathValidation::challenge_of_try(TimePoint now) {
  if (!candidate_ || !candidate_->challenged) return std::nullopt;
  Challenge* const asked = challenge_of(now, candidate_->address, false);
  if (asked == nullptr) return std::nullopt;
  asked->at = now;
  return message_of(Extension::path_challenge, {asked->nonce});
}

/// An address that was challenged is challenged with the same nonce again: the response may take longer than the gap.
PathValidation::Challenge* PathValidation::challenge_of(TimePoint now, const Endpoint& from, bool is_challenge) {
  std::erase_if(challenges_, [&](const Challenge& each) { return now - each.first_at > kAnswerPatience; });
  const auto known = std::ranges::find(challenges_, from, &Challenge::address);
  if (known != challenges_.end()) return is_challenge || now - known->at < kChallengeGap ? nullptr : &*known;
  if (challenges_.size() >= kChallengedAddresses) return nullptr;
  // The nonce is random: a peer that names a victim's address must not foresee the challenge that is sent there.
  const auto nonce = crypto::random_u64();
  if (!nonce) return nullptr;
  return &challenges_.emplace_back(Challenge{from, std::nullopt, *nonce, now, now});
}

std::optional<ControlMessage> PathValidation::on_other_address(TimePoint now, const Endpoint& from,
                                                               const std::optional<Endpoint>& to, bool is_challenge) {
  Challenge* const asked = challenge_of(now, from, is_challenge);
  if (asked == nullptr) return std::nullopt;
  asked->local = to;
  asked->at = now;
  return message_of(Extension::path_challenge, {asked->nonce});
}

std::optional<ControlMessage> PathValidation::on_challenge(std::span<const std::byte> body) const {
  const auto nonce = number_at(body, 0);
  if (!nonce) return std::nullopt;
  const auto proof = proof_of(*nonce, tokens_.ours, tokens_.peers);
  if (!proof) return std::nullopt;
  return message_of(Extension::path_response, {*nonce, *proof});
}

bool PathValidation::on_response(TimePoint now, const Endpoint& from, std::span<const std::byte> body) {
  const auto asked = std::ranges::find(challenges_, from, &Challenge::address);
  if (asked == challenges_.end() || number_at(body, 0) != asked->nonce) return false;
  const auto proof = proof_of(asked->nonce, tokens_.peers, tokens_.ours);
  if (!proof || number_at(body, 2) != proof) return false;
  const bool was_tried = tries(from);
  if (was_tried) candidate_.reset();
  left_by_peer_ = !was_tried;
  previous_ = std::exchange(peer_, asked->address);
  previous_until_ = now + kAnswerPatience;
  local_ = asked->local;
  challenges_.clear();
  return true;
}

std::optional<ControlMessage> PathValidation::question() {
  if (!question_) {
    const auto nonce = crypto::random_u64();
    if (!nonce) return std::nullopt;
    question_ = *nonce;
  }
  return message_of(Extension::path_challenge, {*question_});
}

bool PathValidation::on_answer(std::span<const std::byte> body) {
  if (!question_ || number_at(body, 0) != *question_) return false;
  const auto proof = proof_of(*question_, tokens_.peers, tokens_.ours);
  if (!proof || number_at(body, 2) != proof) return false;
  question_.reset();
  return true;
}

}  // namespace udtcat::transport::native
