// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/passive_open.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/try.hpp"

namespace udtcat::transport::native {

namespace {

constexpr Duration kCookieTerm = std::chrono::minutes(1);  // spec: udt4.md §4
constexpr Duration kKnownTerm = std::chrono::hours(1);     // spec: udt4.md §4

}  // namespace

Result<CookieJar> CookieJar::create(Duration term, const std::optional<Key>& key) {
  UDTCAT_TRY(crypto::KeyedHash hash, key ? crypto::KeyedHash::create(*key) : crypto::KeyedHash::create());
  return CookieJar(std::move(hash), term);
}

Result<std::uint32_t> CookieJar::make(TimePoint now, const Endpoint& client, std::uint32_t client_id) {
  return at(now.time_since_epoch() / term_, client, client_id);
}

bool CookieJar::accepts(TimePoint now, const Endpoint& client, std::uint32_t client_id, std::uint32_t cookie) {
  const std::int64_t term = now.time_since_epoch() / term_;
  return at(term, client, client_id) == cookie || at(term - 1, client, client_id) == cookie;
}

Result<std::uint32_t> CookieJar::at(std::int64_t term, const Endpoint& client, std::uint32_t client_id) {
  std::vector<std::byte> message = address_bytes(client);
  append_be(message, client_id);
  append_be(message, static_cast<std::uint64_t>(term));
  UDTCAT_TRY(const std::uint64_t hash, hash_.of(message));
  return static_cast<std::uint32_t>(hash) | 1U;
}

namespace {

constexpr Duration kFirstDataHold =
    std::chrono::milliseconds(20);  // measured: a libudt client drops what comes within 8 ms, on a busy machine 20

// Requests without a proof of the key, a second: more are not answered, so that a flood costs no more than reading it.
constexpr PrefixMeter::Limits kInductions{100, 1000};  // spec: udt4.md §10
constexpr PrefixMeter::Limits kConclusions{50, 200};   // spec: udt4.md §10
constexpr PrefixMeter::Limits kReturns{8, 100};        // spec: udt4.md §10

struct DecodedRequest {
  ControlHeader header;
  HandshakePacket handshake;
  std::optional<HandshakeExtension> extension;
  std::size_t body_bytes;
};

/// A client's handshake packet.  none: another packet, or one with a socket number that is none
std::optional<DecodedRequest> decode_request(std::span<const std::byte> packet) {
  if (packet.size() < kHeaderBytes || !is_control(packet)) return std::nullopt;
  const ControlHeader header = decode_control_header(packet);
  const auto body = packet.subspan(kHeaderBytes);
  const auto handshake = decode_handshake(body);
  if (header.type != ControlType::handshake || !handshake) return std::nullopt;
  if (handshake->socket_id == 0 || handshake->socket_id > kSequenceMask) return std::nullopt;
  return DecodedRequest{header, *handshake, decode_extension(body), body.size()};
}

/// libudt ignores a request of more than 48 bytes; so does this, unless they are a HandshakeExtension.
bool well_sized(const DecodedRequest& asked) {
  return asked.body_bytes == kHandshakeBytes || asked.extension.has_value();
}

bool is_usable(const HandshakePacket& request) {
  return request.version == kUdtVersion && request.type == kStreamType && request.mss >= kMinMss &&
         request.mss <= kSequenceMask && request.flow_window != 0 && request.flow_window <= kSequenceMask &&
         request.initial_sequence <= kSequenceMask;
}

std::vector<std::byte> refuse(HandshakePacket request) {
  request.request = Request::refused;
  return encode(request, request.socket_id, 0, std::nullopt);
}

}  // namespace

Result<PassiveOpen> PassiveOpen::create(const Settings& settings, KeyProof* key_proof,
                                        const std::optional<CookieJar::Key>& known) {
  UDTCAT_TRY(CookieJar cookies, CookieJar::create(kCookieTerm));
  std::optional<CookieJar> known_hosts;
  if (known) {
    UDTCAT_TRY(known_hosts, CookieJar::create(kKnownTerm, known));
  }
  UDTCAT_TRY(PrefixMeter inductions, PrefixMeter::create(kInductions));
  UDTCAT_TRY(PrefixMeter conclusions, PrefixMeter::create(kConclusions));
  UDTCAT_TRY(PrefixMeter returns, PrefixMeter::create(kReturns));
  return PassiveOpen(settings, key_proof, std::move(cookies), std::move(known_hosts), std::move(inductions),
                     std::move(conclusions), std::move(returns));
}

PassiveOpen::PassiveOpen(const Settings& settings, KeyProof* key_proof, CookieJar cookies,
                         std::optional<CookieJar> known, PrefixMeter inductions, PrefixMeter conclusions,
                         PrefixMeter returns)
    : settings_(settings),
      key_proof_(key_proof),
      cookies_(std::move(cookies)),
      known_(std::move(known)),
      inductions_(std::move(inductions)),
      conclusions_(std::move(conclusions)),
      returns_(std::move(returns)) {}

std::vector<std::byte> PassiveOpen::refusal(std::span<const std::byte> packet) {
  const auto asked = decode_request(packet);
  if (!asked || !well_sized(*asked)) return {};
  return refuse(asked->handshake);
}

PassiveOpen::Outcome PassiveOpen::handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                         const NumberSource& draw_numbers) {
  const auto asked = decode_request(packet);
  if (!asked || !well_sized(*asked)) return {};
  const HandshakePacket& request = asked->handshake;
  const bool proved = key_proof_ != nullptr && key_proof_->is_in(request, asked->header.additional, asked->extension);
  const bool metered = key_proof_ != nullptr && !proved;
  if (request.request == Request::induction) {
    if (metered && !inductions_.take(now, core::prefix_of(from))) return {};
    return induct(now, asked->header, request, from);
  }
  if (request.request != Request::conclusion) return {};
  const bool known = proved && knows(now, from, request);
  if (!known && !cookies_.accepts(now, from, request.socket_id, request.cookie)) return {};
  if (metered && !conclusions_.take(now, core::prefix_of(from))) return {};
  if (!is_usable(request)) return {refuse(request), std::nullopt};
  const auto numbers = draw_numbers(proved);
  if (!numbers) return {};  // there may be room when it asks again
  Outcome outcome = conclude(request, asked->extension, from, *numbers, next_cookie(now, from));
  outcome.proved = proved;
  outcome.timestamp_us = asked->header.timestamp_us;
  if (asked->extension) outcome.handshake_data = asked->extension->handshake_data;
  return outcome;
}

/// Whether the client's cookie is of an earlier connection from its host: the host has received it there within the
/// hour. Ports and socket numbers may differ.
bool PassiveOpen::knows(TimePoint now, const Endpoint& from, const HandshakePacket& request) {
  if (request.cookie == settings_.known_cookie) return true;
  return known_ && known_->accepts(now, from.with_port(0), 0, request.cookie) &&
         returns_.take(now, core::prefix_of(from));
}

std::uint32_t PassiveOpen::next_cookie(TimePoint now, const Endpoint& client) {
  return known_ ? known_->make(now, client.with_port(0), 0).value_or(0) : 0;
}

/// The answer is the request with a cookie; kMarker of a client of ours is answered by kMarkerAnswer.
PassiveOpen::Outcome PassiveOpen::induct(TimePoint now, const ControlHeader& header, HandshakePacket request,
                                         const Endpoint& from) {
  const auto cookie = cookies_.make(now, from, request.socket_id);
  if (!cookie) return {};
  request.cookie = *cookie;
  const bool own = header.additional == kMarker;
  return {encode(request, request.socket_id, own ? kMarkerAnswer : header.additional,
                 own ? std::optional(HandshakeExtension{}) : std::nullopt),
          std::nullopt};
}

PassiveOpen::Outcome PassiveOpen::conclude(const HandshakePacket& request,
                                           const std::optional<HandshakeExtension>& extension, const Endpoint& from,
                                           const Numbers& numbers, std::uint32_t next_cookie) const {
  ConnectionSettings made;
  made.peer = extension ? PeerKind::own : PeerKind::plain;
  made.local_id = numbers.local_id;
  made.peer_id = request.socket_id;
  made.initial_sequence = request.initial_sequence;
  made.mss = std::min(request.mss, settings_.mss);
  made.flow_window = std::min(request.flow_window, kMaxWindowPackets);
  made.local_token = numbers.token;
  made.peer_token = extension ? extension->token : 0;
  made.peer_address = from;
  made.hold = extension ? Duration::zero() : kFirstDataHold;
  HandshakePacket reply = request;
  reply.mss = made.mss;
  reply.flow_window = settings_.flow_window;
  reply.socket_id = numbers.local_id;
  reply.address = address_words(from);
  return {encode(reply, request.socket_id, extension ? kMarkerAnswer : 0,
                 extension ? std::optional(HandshakeExtension{numbers.token, next_cookie}) : std::nullopt),
          made};
}

}  // namespace udtcat::transport::native
