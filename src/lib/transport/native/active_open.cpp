// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/active_open.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr Duration kRetry = std::chrono::milliseconds(250);  // spec: UDT4
constexpr Duration kMostRetry = std::chrono::seconds(1);     // spec: RFC 6298 §2.1: TCP's first wait
constexpr unsigned kQuickInductions = 4;  // guess: a loss or two; further ones go to nobody (RFC 8085 §3.1.1)
// guess: a conclusion with handshake data is six times as large as an induction, and its answer no larger
constexpr double kConclusionTimes = 2.5;
constexpr Duration kConclusionPatience =
    std::chrono::seconds(1);  // guess: libudt may refuse a cookie of its own for ever (udt4.md §4)

}  // namespace

ActiveOpen::ActiveOpen(TimePoint now, const OpenRequest& request)
    : request_(request),
      state_(request.known_cookie ? State::conclusion : State::induction),
      next_send_(now),
      concluded_at_(now),
      began_(now),
      asked_at_(now),
      cookie_(request.known_cookie.value_or(0)),
      own_(request.known_cookie.has_value()),
      concluded_by_(own_ ? 0 : request.remembered_cookie) {}

std::optional<std::vector<std::byte>> ActiveOpen::poll_transmit(TimePoint now) {
  if (state_ == State::done || state_ == State::refused || now < next_send_) return std::nullopt;
  if (state_ == State::conclusion && now - concluded_at_ >= std::max(kConclusionPatience, 2 * retry())) {
    if (own_) concluded_by_ = cookie_;
    state_ = State::induction;
    asked_at_ = now;
    cookie_ = 0;
    own_ = false;
  }
  last_sent_ = now;
  // A remembered cookie: a conclusion and an induction leave together. An answer to the conclusion saves a round trip,
  // and silence costs nothing. The conclusion is repeated, since the listener may have taken it, handshake data
  // included.
  const bool both = state_ == State::induction && concluded_by_ != 0;
  if (both && std::exchange(first_of_two_, !first_of_two_))
    return packet(now, Request::conclusion, concluded_by_, true);
  if (state_ == State::induction) ++inductions_;
  next_send_ = now + (state_ == State::conclusion ? retry() : inductions_ < kQuickInductions ? kRetry : kMostRetry);
  return packet(now, state_ == State::conclusion ? Request::conclusion : Request::induction, cookie_, own_);
}

bool ActiveOpen::repeat_once(TimePoint now) {
  if (std::exchange(was_repeated_, true)) return false;
  next_send_ = std::min(next_send_, now);
  return true;
}

/// Until a conclusion is repeated: on a slow line each needless copy delays the first data.
Duration ActiveOpen::retry() const {
  const auto answer = std::chrono::duration_cast<Duration>(induction_time_ * kConclusionTimes);
  return std::clamp<Duration>(answer, kRetry, kMostRetry);
}

std::vector<std::byte> ActiveOpen::packet(TimePoint now, Request kind, std::uint32_t cookie, bool own) {
  const bool concluding = kind == Request::conclusion;
  HandshakePacket handshake{.initial_sequence = request_.initial_sequence,
                            .mss = request_.mss,
                            .flow_window = request_.flow_window,
                            .request = kind,
                            .socket_id = request_.local_id,
                            .cookie = cookie,
                            .address = address_words(request_.peer)};
  std::optional<HandshakeExtension> extension;
  if (concluding && own) extension = {request_.token, 0, request_.handshake_data.bytes()};
  // libudt's listener gives its user the address that the conclusion names: no proof of the key can stand there.
  const bool to_libudt = concluding && !own;
  const std::uint32_t additional = to_libudt ? 0 : kMarker;
  if (request_.key_proof != nullptr && !to_libudt)
    handshake.address = request_.key_proof->make(handshake, additional, extension).value_or(handshake.address);
  auto made = encode(handshake, 0, additional, extension, timestamp_us(now, began_));
  if (concluding) {
    ++conclusions_;
    conclusion_bytes_ = made.size();
  }
  return made;
}

void ActiveOpen::handle(TimePoint now, std::span<const std::byte> packet) {
  if (packet.size() < kHeaderBytes || !is_control(packet)) return;
  const ControlHeader header = decode_control_header(packet);
  const auto body = packet.subspan(kHeaderBytes);
  const auto reply = decode_handshake(body);
  if (header.type != ControlType::handshake || !reply) return;
  if (reply->request == Request::refused) {
    // A listener for one session that has taken the conclusion refuses the induction, and that answer may come first.
    const bool meant = concluded_by_ == 0 || reply->cookie != 0;
    if (reply->socket_id == request_.local_id && meant) state_ = State::refused;
    return;
  }
  if (reply->version != kUdtVersion || reply->type != kStreamType ||
      reply->initial_sequence != request_.initial_sequence)
    return;
  if (state_ == State::induction && reply->request == Request::induction)
    return take_induction(now, header, *reply, body);
  if (reply->request != Request::conclusion) return;
  if (state_ == State::conclusion || (concluded_by_ != 0 && header.additional == kMarkerAnswer))
    take_conclusion(now, header, *reply, body);
}

void ActiveOpen::take_induction(TimePoint now, const ControlHeader& header, const HandshakePacket& reply,
                                std::span<const std::byte> body) {
  if (reply.socket_id != request_.local_id) return;
  cookie_ = reply.cookie;
  own_ = header.additional == kMarkerAnswer && decode_extension(body).has_value();
  induction_time_ = now - asked_at_;
  state_ = State::conclusion;
  inductions_ = 0;
  concluded_at_ = next_send_ = now;
}

void ActiveOpen::take_conclusion(TimePoint now, const ControlHeader& header, const HandshakePacket& reply,
                                 std::span<const std::byte> body) {
  const bool sane = reply.mss >= kMinMss && reply.mss <= request_.mss && reply.flow_window >= 1 &&
                    reply.socket_id >= 1 && reply.socket_id <= kSequenceMask;
  if (!sane) return;
  // A known cookie: the answer itself shows that the listener is one of ours, as no induction came before.
  const bool own = own_ || header.additional == kMarkerAnswer;
  const auto extension = own ? decode_extension(body) : std::nullopt;
  if (own && !extension) return;
  own_ = own;
  settings_.peer = own_ ? PeerKind::own : PeerKind::plain;
  settings_.local_id = request_.local_id;
  settings_.peer_id = reply.socket_id;
  settings_.initial_sequence = request_.initial_sequence;
  settings_.mss = reply.mss;
  settings_.flow_window = std::min(reply.flow_window, kMaxWindowPackets);
  settings_.local_token = request_.token;
  settings_.peer_token = extension ? extension->token : 0;
  settings_.next_cookie = extension ? extension->next_cookie : 0;
  settings_.peer_address = request_.peer;
  // Where the conclusion was repeated, the answer may be to any of its copies (Karn's rule).
  if (conclusions_ == 1)
    settings_.first_rtt = {now - last_sent_, conclusion_bytes_ + kHeaderBytes + body.size() + 2 * kIpv4OverheadBytes};
  if (own_ && request_.handshake_data.size() > 0)
    settings_.handshake_data = {.bytes = request_.handshake_data, .clock_zero = began_, .sent_at = last_sent_};
  state_ = State::done;
}

}  // namespace udtcat::transport::native
