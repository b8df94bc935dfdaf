// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/admission.hpp"

#include <utility>

#include "lib/core/try.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::transport::native {

namespace {

constexpr PrefixMeter::Limits kRefusals{100, 1000};  // guess: a client that is not answered asks again
constexpr std::size_t kMaxConnections = 4096;        // guess: some 20 kB each

/// The answer to a client's conclusion that has made a connection already.  none: another packet, or a new client
const std::vector<std::byte>* known_reply(std::span<const std::byte> packet, const Endpoint& from,
                                          const ConnectionTable& connections) {
  const auto request = decode_handshake(packet.subspan(kHeaderBytes));
  if (!request || request->request != Request::conclusion) return nullptr;
  const PeerName name{from, request->socket_id};
  if (const UdtLink* const known = connections.find(name))
    return known->handshake_reply.empty() ? nullptr : &known->handshake_reply;
  const auto elsewhere = connections.find_elsewhere(name);
  return elsewhere ? &connections.find_elsewhere(*elsewhere)->handshake_reply : nullptr;
}

}  // namespace

Result<Admission> Admission::create(const PassiveOpen::Settings& settings, std::uint16_t local_port,
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
  return Admission(std::move(key_proof), std::move(resets), std::move(passive), std::move(refusals));
}

Result<std::uint64_t> Admission::draw_token(std::uint32_t id, const Endpoint& peer) {
  return resets_ ? resets_->token_of(id, peer) : crypto::random_u64();
}

PassiveOpen::Outcome Admission::handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                       const ConnectionTable& connections,
                                       const std::function<Result<PassiveOpen::Numbers>()>& draw_numbers) {
  if (const auto* const reply = known_reply(packet, from, connections)) return {*reply, std::nullopt};
  if (!listening_ || turns_away(packet)) {
    if (!refusals_.take(now, core::prefix_of(from))) return {};
    return {PassiveOpen::refusal(packet), std::nullopt};
  }
  return passive_.handle(now, packet, from, [&](bool proved) -> std::optional<PassiveOpen::Numbers> {
    if (!has_room(connections, proved)) return std::nullopt;
    const auto numbers = draw_numbers();
    return numbers ? std::optional(*numbers) : std::nullopt;
  });
}

/// A conclusion without the words that are wanted; a client says them with its last packet before it is let in.
bool Admission::turns_away(std::span<const std::byte> packet) const {
  if (!wanted_) return false;
  const auto body = packet.subspan(kHeaderBytes);
  const auto request = decode_handshake(body);
  if (!request || request->request != Request::conclusion) return false;
  return !has_words(packet, wanted_);
}

bool Admission::has_words(std::span<const std::byte> packet, const WordsFilter& filter) {
  const auto extension = decode_extension(packet.subspan(kHeaderBytes));
  return extension && filter(extension->handshake_data);
}

/// Clients that have proved the key are counted apart, so that others cannot take all the room.
bool Admission::has_room(const ConnectionTable& connections, bool proved) const {
  return connections.count(proved) < kMaxConnections && listening_->has_room(proved);
}

std::vector<std::byte> Admission::answer_unknown(TimePoint now, std::uint32_t id, std::span<const std::byte> packet,
                                                 const Endpoint& from) {
  if (const auto* shutdown = closed_.answer(now, id, from, packet)) return *shutdown;
  if (!resets_ || closed_.knows(id)) return {};
  return resets_->answer(now, packet, from);
}

}  // namespace udtcat::transport::native
