/// How connections begin: who asks to be let in, and whom we ask.
#include <utility>

#include <boost/asio/post.hpp>

#include "crypto/random.hpp"
#include "transport/native/handshake.hpp"
#include "transport/native/udp_port.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kMaxLinks = 4096;  // guess: some 20 kB each

TimePoint clock_now() { return std::chrono::steady_clock::now(); }

}  // namespace

// ---- Listening ----------------------------------------------------------------------------------------------------

void UdpPort::handle_listener_packet(TimePoint now, std::span<const std::byte> packet,
                                     const net::ReceivedTrain& train) {
  if (Link* link = known_client(packet, train.from)) return answer(link->handshake_reply, train);
  if (!welcome_) return answer(PassiveOpen::refusal(packet), train);
  auto verdict = passive_.handle(now, packet, train.from, [this] { return draw_lot(); });
  if (verdict.accepted) {
    verdict.accepted->local_address = train.to;
    Link& link = add_link(now, *verdict.accepted);
    link.handshake_reply = verdict.reply;
    welcome_->on_link(link);
  }
  answer(std::move(verdict.reply), train);
}

/// A client asks again because our answer was lost: it gets the same.
Link* UdpPort::known_client(std::span<const std::byte> packet, const Endpoint& from) {
  const auto request = decode_handshake(packet.subspan(kHeaderBytes));
  if (!request || request->request != Request::conclusion) return nullptr;
  for (const auto& [id, link] : links_) {
    const Connection& connection = link->connection;
    if (!link->handshake_reply.empty() && connection.peer_id() == request->socket_id &&
        connection.peer_address() == from)
      return link.get();
  }
  return nullptr;
}

std::optional<PassiveOpen::Lot> UdpPort::draw_lot() {
  if (links_.size() >= kMaxLinks || !welcome_->has_room()) return std::nullopt;
  for (;;) {
    const auto random = crypto::random_u64();
    const auto token = crypto::random_u64();
    if (!random || !token) return std::nullopt;
    const auto id = static_cast<std::uint32_t>(*random) & kSequenceMask;
    if (id != 0 && !links_.contains(id) && !openings_.contains(id)) return PassiveOpen::Lot{id, *token};
  }
}

// ---- Opening ------------------------------------------------------------------------------------------------------

Result<UdpPort::OpenId> UdpPort::open(const Endpoint& peer, std::chrono::milliseconds patience, OpenHandler handler) {
  const auto random = crypto::random_u64();
  const auto token = crypto::random_u64();
  if (!random || !token) return tl::unexpected((random ? token : random).error());
  auto id = static_cast<std::uint32_t>(*random >> 32) & kSequenceMask;
  while (id == 0 || links_.contains(id) || openings_.contains(id)) id = (id + 1) & kSequenceMask;
  const OpenRequest request{peer,
                            id,
                            static_cast<std::uint32_t>(*random) & kSequenceMask,
                            mss_,
                            kFirstFlowWindow,
                            *token,
                            options_.known_cookie};
  const TimePoint now = clock_now();
  openings_.emplace(id, std::make_unique<Opening>(io_, ActiveOpen(now, request), now + patience, std::move(handler)));
  boost::asio::post(io_, lifetime_.guard([this, id] { run_opening(id); }));
  return id;
}

void UdpPort::run_opening(OpenId id) {
  const auto found = openings_.find(id);
  if (found == openings_.end()) return;
  Opening& opening = *found->second;
  const TimePoint now = clock_now();
  const Endpoint& peer = opening.open.request().peer;
  if (now >= opening.until)
    return finish_opening(id, fail(Errc::cannot_reach, "connect udp " + peer.to_string(),
                                   opening.rumour.empty() ? "nobody answered" : opening.rumour));
  if (auto packet = opening.open.poll_transmit(now)) {
    const auto result = send_alone(std::move(*packet), peer, std::nullopt);
    if (result.state == net::SendState::failed)
      return finish_opening(
          id, fail(Errc::cannot_reach, "connect udp " + peer.to_string(), errno_text(result.errno_value)));
  }
  opening.timer.expires_at(std::min(opening.open.deadline(), opening.until));
  opening.timer.async_wait(lifetime_.guard([this, id](const boost::system::error_code& error) {
    if (!error) run_opening(id);
  }));
}

void UdpPort::handle_opening_packet(TimePoint now, Opening& opening, std::span<const std::byte> packet,
                                    const Endpoint& from) {
  const OpenRequest& request = opening.open.request();
  const OpenId id = request.local_id;
  if (!(from == request.peer)) return;
  opening.open.handle(now, packet);
  if (opening.open.state() == ActiveOpen::State::refused)
    return finish_opening(id, fail(Errc::cannot_reach, "connect udp " + request.peer.to_string(), kTurnedAway));
  if (opening.open.state() != ActiveOpen::State::done) return run_opening(id);
  Link& link = add_link(now, opening.open.settings());
  finish_opening(id, &link);
  settle(link);
}

void UdpPort::finish_opening(OpenId id, Result<Link*> result) {
  const auto opening = openings_.extract(id);
  if (opening.empty()) return;
  boost::asio::post(io_, lifetime_.guard([handler = std::move(opening.mapped()->handler), result = std::move(result)] {
    handler(result);
  }));
}

Link& UdpPort::add_link(TimePoint now, ConnectionSettings settings) {
  settings.options = options_;
  settings.started = now;
  settings.random_seed = crypto::random_u64().value_or(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  return *links_.emplace(settings.local_id, std::make_unique<Link>(io_, settings, chunks_)).first->second;
}

}  // namespace udtcat::transport::native
