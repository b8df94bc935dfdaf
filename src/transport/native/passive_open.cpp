#include "transport/native/passive_open.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr Duration kFirstDataHold =
    std::chrono::milliseconds(20);  // measured: a libudt client drops what comes within 8 ms, on a busy machine 20

struct Asked {
  ControlHeader header;
  Handshake handshake;
  std::span<const std::byte> body;
};

/// A handshake packet that could come from a client: its numbers are ones that we could use.
std::optional<Asked> decode_request(std::span<const std::byte> packet) {
  if (packet.size() < kHeaderBytes || !is_control(packet)) return std::nullopt;
  const ControlHeader header = decode_control_header(packet);
  const auto body = packet.subspan(kHeaderBytes);
  const auto handshake = decode_handshake(body);
  if (header.type != ControlType::handshake || !handshake) return std::nullopt;
  if (handshake->socket_id == 0 || handshake->socket_id > kSequenceMask) return std::nullopt;
  return Asked{header, *handshake, body};
}

/// libudt ignores a request with more than 48 bytes; so do we, but for what one of ours adds.
bool well_sized(const Asked& asked) {
  return asked.body.size() == kHandshakeBytes || decode_extension(asked.body).has_value();
}

std::vector<std::byte> refuse(Handshake request) {
  request.request = Request::refused;
  return encode(request, request.socket_id, 0, std::nullopt);
}

}  // namespace

std::vector<std::byte> PassiveOpen::refusal(std::span<const std::byte> packet) {
  const auto asked = decode_request(packet);
  if (!asked || !well_sized(*asked)) return {};
  return refuse(asked->handshake);
}

PassiveOpen::Verdict PassiveOpen::handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                         const std::function<std::optional<Lot>()>& draw_lot) {
  const auto asked = decode_request(packet);
  if (!asked || !well_sized(*asked)) return {};
  if (asked->handshake.request == Request::induction) return induct(now, asked->header, asked->handshake, from);
  if (asked->handshake.request != Request::conclusion) return {};
  const std::uint32_t cookie = asked->handshake.cookie;
  const bool known = cookie == settings_.known_cookie;
  if (!known && !cookies_.accepts(now, from, asked->handshake.socket_id, cookie)) return {};
  return conclude(asked->handshake, asked->body, from, draw_lot);
}

/// Everything goes back as it came but the cookie; and the mark of one of ours is answered.
PassiveOpen::Verdict PassiveOpen::induct(TimePoint now, const ControlHeader& header, Handshake request,
                                         const Endpoint& from) {
  const auto cookie = cookies_.make(now, from, request.socket_id);
  if (!cookie) return {};
  request.cookie = *cookie;
  const bool own = header.additional == kMarker;
  return {encode(request, request.socket_id, own ? kMarkerAnswer : header.additional,
                 own ? std::optional(HandshakeExtension{}) : std::nullopt),
          std::nullopt};
}

PassiveOpen::Verdict PassiveOpen::conclude(const Handshake& request, std::span<const std::byte> body,
                                           const Endpoint& from,
                                           const std::function<std::optional<Lot>()>& draw_lot) const {
  if (request.version != kUdtVersion || request.type != kStreamType || request.mss < kMinMss ||
      request.mss > kSequenceMask || request.flow_window == 0 || request.flow_window > kSequenceMask ||
      request.initial_sequence > kSequenceMask)
    return {refuse(request), std::nullopt};
  const auto lot = draw_lot();
  if (!lot) return {refuse(request), std::nullopt};
  const auto extension = decode_extension(body);
  ConnectionSettings made;
  made.peer = extension ? PeerKind::own : PeerKind::plain;
  made.local_id = lot->local_id;
  made.peer_id = request.socket_id;
  made.initial_sequence = request.initial_sequence;
  made.mss = std::min(request.mss, settings_.mss);
  made.flow_window = std::min(request.flow_window, kMaxWindowPackets);
  made.local_token = lot->token;
  made.peer_token = extension ? extension->token : 0;
  made.peer_address = from;
  made.hold = extension ? Duration::zero() : kFirstDataHold;
  Handshake reply = request;
  reply.mss = made.mss;
  reply.flow_window = settings_.flow_window;
  reply.socket_id = lot->local_id;
  reply.address = address_words(from);
  return {encode(reply, request.socket_id, extension ? kMarkerAnswer : 0,
                 extension ? std::optional(HandshakeExtension{lot->token}) : std::nullopt),
          made};
}

}  // namespace udtcat::transport::native
