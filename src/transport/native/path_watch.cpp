#include "transport/native/path_watch.hpp"

#include "transport/native/packet.hpp"

namespace udtcat::transport::native {

namespace {

constexpr Duration kChallengeGap = std::chrono::milliseconds(50);  // guess: a peer that moved sends many packets

std::optional<std::uint64_t> pair_at(std::span<const std::byte> body, std::size_t index) {
  const auto high = word_at(body, index);
  const auto low = word_at(body, index + 1);
  if (!high || !low) return std::nullopt;
  return (std::uint64_t{*high} << 32) | *low;
}

ControlMessage message_of(Extension kind, std::uint64_t nonce, std::uint64_t token) {
  return {ControlType::user,
          static_cast<std::uint16_t>(kind),
          0,
          {static_cast<std::uint32_t>(nonce >> 32), static_cast<std::uint32_t>(nonce),
           static_cast<std::uint32_t>(token >> 32), static_cast<std::uint32_t>(token)}};
}

/// Good enough to be unknown to who does not see it: splitmix64 (Vigna) of a random start. It can be undone: who is asked learns
/// that start, which therefore is nothing but a start.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11eb;
  return value ^ (value >> 31);
}

}  // namespace

PathWatch::PathWatch(const Endpoint& peer, const std::optional<Endpoint>& local, Tokens tokens,
                     std::uint64_t random_seed)
    : peer_(peer), local_(local), tokens_(tokens), next_nonce_(random_seed) {}

std::optional<ControlMessage> PathWatch::on_stranger(TimePoint now, const Endpoint& from,
                                                     const std::optional<Endpoint>& to) {
  if (asked_ && now - asked_->at < kChallengeGap) return std::nullopt;
  // Who is being asked gets the same question again: the answer may need longer than the gap.
  if (!asked_ || !(asked_->address == from)) asked_ = Asked{from, to, mixed(next_nonce_ += 0x9e37'79b9'7f4a'7c15), now};
  asked_->local = to;
  asked_->at = now;
  return message_of(Extension::path_challenge, asked_->nonce, tokens_.peers);
}

std::optional<ControlMessage> PathWatch::on_challenge(std::span<const std::byte> body) const {
  const auto nonce = pair_at(body, 0);
  if (!nonce || pair_at(body, 2) != tokens_.ours) return std::nullopt;
  return message_of(Extension::path_response, *nonce, tokens_.peers);
}

bool PathWatch::on_response(const Endpoint& from, std::span<const std::byte> body) {
  if (!asked_ || !(asked_->address == from) || pair_at(body, 0) != asked_->nonce || pair_at(body, 2) != tokens_.ours)
    return false;
  peer_ = asked_->address;
  local_ = asked_->local;
  asked_.reset();
  return true;
}

}  // namespace udtcat::transport::native
