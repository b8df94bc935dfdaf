// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/listener_gate.hpp"

#include <utility>

#include "lib/core/try.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::transport::native {

namespace {

constexpr PrefixMeter::Limits kRefusals{100, 1000};  // guess: a client that is not answered asks again

}  // namespace

Result<ListenerGate> ListenerGate::create(const PassiveOpen::Settings& settings, std::uint16_t local_port,
                                          const PortKeys* keys) {
  std::unique_ptr<KeyProof> key_proof;
  std::optional<StatelessResets> resets;
  if (keys != nullptr) {
    UDTCAT_TRY(resets, StatelessResets::create(keys->reset.bytes(), local_port));
  }
  if (keys != nullptr && keys->proof) {
    UDTCAT_TRY(KeyProof made, KeyProof::create(keys->proof->bytes()));
    key_proof = std::make_unique<KeyProof>(std::move(made));
  }
  const auto known = keys != nullptr ? std::optional<CookieJar::Key>(keys->known.bytes()) : std::nullopt;
  UDTCAT_TRY(PassiveOpen passive, PassiveOpen::create(settings, key_proof.get(), known));
  UDTCAT_TRY(PrefixMeter refusals, PrefixMeter::create(kRefusals));
  return ListenerGate(std::move(key_proof), std::move(resets), std::move(passive), std::move(refusals));
}

Result<std::uint64_t> ListenerGate::draw_token(std::uint32_t id, const Endpoint& peer) {
  return resets_ ? resets_->token_of(id, peer) : crypto::random_u64();
}

std::vector<std::byte> ListenerGate::refuse(TimePoint now, std::span<const std::byte> packet, const Endpoint& from) {
  if (!refusals_.take(now, core::prefix_of(from))) return {};
  return PassiveOpen::refusal(packet);
}

void ListenerGate::remember(TimePoint now, const UdtConnection& closed) {
  closed_.add(now, closed.local_id(), closed.peer_address(), closed.goodbye_packet());
}

std::vector<std::byte> ListenerGate::answer_stray(TimePoint now, std::uint32_t id, std::span<const std::byte> packet,
                                                  const Endpoint& from) {
  if (const auto* goodbye = closed_.answer(now, id, from, packet)) return *goodbye;
  if (!resets_ || closed_.knows(id)) return {};
  return resets_->answer(now, packet, from);
}

}  // namespace udtcat::transport::native
