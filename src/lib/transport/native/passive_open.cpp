#include "lib/transport/native/passive_open.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"

namespace udtcat::transport::native {

namespace {

std::int64_t minute_of(TimePoint now) {
  return std::chrono::duration_cast<std::chrono::minutes>(now.time_since_epoch()).count();
}

}  // namespace

Result<CookieJar> CookieJar::create() {
  UDTCAT_TRY(crypto::KeyedHash hash, crypto::KeyedHash::create());
  return CookieJar(std::move(hash));
}

Result<std::uint32_t> CookieJar::make(TimePoint now, const Endpoint& client, std::uint32_t client_id) {
  return at(minute_of(now), client, client_id);
}

bool CookieJar::accepts(TimePoint now, const Endpoint& client, std::uint32_t client_id, std::uint32_t cookie) {
  const std::int64_t minute = minute_of(now);
  return at(minute, client, client_id) == cookie || at(minute - 1, client, client_id) == cookie;
}

Result<std::uint32_t> CookieJar::at(std::int64_t minute, const Endpoint& client, std::uint32_t client_id) {
  std::vector<std::byte> message = address_bytes(client);
  append_be(message, client_id);
  append_be(message, static_cast<std::uint64_t>(minute));
  UDTCAT_TRY(const std::uint64_t hash, hash_.of(message));
  return static_cast<std::uint32_t>(hash) | 1U;
}

namespace {

constexpr Duration kFirstDataHold =
    std::chrono::milliseconds(20);  // measured: a libudt client drops what comes within 8 ms, on a busy machine 20

// Requests of strangers beyond this are not answered, so that a flood costs no more than to read it.
constexpr PrefixMeter::Limits kInductions{100, 1000};  // spec: udt4.md §10
constexpr PrefixMeter::Limits kConclusions{50, 200};   // spec: udt4.md §10

struct Asked {
  ControlHeader header;
  HandshakePacket handshake;
  std::optional<HandshakeExtension> extension;
  std::size_t body_bytes;
};

/// A handshake packet that could come from a client: its numbers are ones that we could use.
std::optional<Asked> decode_request(std::span<const std::byte> packet) {
  if (packet.size() < kHeaderBytes || !is_control(packet)) return std::nullopt;
  const ControlHeader header = decode_control_header(packet);
  const auto body = packet.subspan(kHeaderBytes);
  const auto handshake = decode_handshake(body);
  if (header.type != ControlType::handshake || !handshake) return std::nullopt;
  if (handshake->socket_id == 0 || handshake->socket_id > kSequenceMask) return std::nullopt;
  return Asked{header, *handshake, decode_extension(body), body.size()};
}

/// libudt ignores a request with more than 48 bytes; so do we, but for what one of ours adds.
bool well_sized(const Asked& asked) { return asked.body_bytes == kHandshakeBytes || asked.extension.has_value(); }

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

Result<PassiveOpen> PassiveOpen::create(const Settings& settings, KeyProof* key_proof) {
  UDTCAT_TRY(CookieJar cookies, CookieJar::create());
  UDTCAT_TRY(PrefixMeter inductions, PrefixMeter::create(kInductions));
  UDTCAT_TRY(PrefixMeter conclusions, PrefixMeter::create(kConclusions));
  return PassiveOpen(settings, key_proof, std::move(cookies), std::move(inductions), std::move(conclusions));
}

PassiveOpen::PassiveOpen(const Settings& settings, KeyProof* key_proof, CookieJar cookies, PrefixMeter inductions,
                         PrefixMeter conclusions)
    : settings_(settings),
      key_proof_(key_proof),
      cookies_(std::move(cookies)),
      inductions_(std::move(inductions)),
      conclusions_(std::move(conclusions)) {}

std::vector<std::byte> PassiveOpen::refusal(std::span<const std::byte> packet) {
  const auto asked = decode_request(packet);
  if (!asked || !well_sized(*asked)) return {};
  return refuse(asked->handshake);
}

PassiveOpen::Verdict PassiveOpen::handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                         const DrawNumbers& draw_numbers) {
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
  const bool known = proved && request.cookie == settings_.known_cookie;
  if (!known && !cookies_.accepts(now, from, request.socket_id, request.cookie)) return {};
  if (metered && !conclusions_.take(now, core::prefix_of(from))) return {};
  if (!is_usable(request)) return {refuse(request), std::nullopt};
  const auto numbers = draw_numbers(proved);
  if (!numbers) return {};  // there may be room when it asks again
  Verdict verdict = conclude(request, asked->extension, from, *numbers);
  verdict.proved = proved;
  verdict.timestamp_us = asked->header.timestamp_us;
  if (asked->extension) verdict.first_words = asked->extension->first_words;
  return verdict;
}

/// Everything goes back as it came but the cookie; and the mark of one of ours is answered.
PassiveOpen::Verdict PassiveOpen::induct(TimePoint now, const ControlHeader& header, HandshakePacket request,
                                         const Endpoint& from) {
  const auto cookie = cookies_.make(now, from, request.socket_id);
  if (!cookie) return {};
  request.cookie = *cookie;
  const bool own = header.additional == kMarker;
  return {encode(request, request.socket_id, own ? kMarkerAnswer : header.additional,
                 own ? std::optional(HandshakeExtension{}) : std::nullopt),
          std::nullopt};
}

PassiveOpen::Verdict PassiveOpen::conclude(const HandshakePacket& request,
                                           const std::optional<HandshakeExtension>& extension, const Endpoint& from,
                                           const Numbers& numbers) const {
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
                 extension ? std::optional(HandshakeExtension{numbers.token}) : std::nullopt),
          made};
}

}  // namespace udtcat::transport::native
