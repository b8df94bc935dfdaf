/// How connections begin: who asks to be let in, and whom we ask.
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/crypto/random.hpp"
#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kMaxLinks = 4096;              // guess: some 20 kB each
constexpr PrefixMeter::Limits kRefusals{100, 1000};  // guess: who is not answered asks again

}  // namespace

// ---- Listening ----------------------------------------------------------------------------------------------------

Result<UdpPort::Gate> UdpPort::Gate::create(const PassiveOpen::Settings& settings, std::uint16_t local_port,
                                            const PortKeys* keys) {
  std::unique_ptr<Door> door;
  std::optional<Resets> resets;
  if (keys != nullptr) {
    auto made_door = Door::create(keys->door.bytes());
    if (!made_door) return tl::unexpected(made_door.error());
    auto made_resets = Resets::create(keys->reset.bytes(), local_port);
    if (!made_resets) return tl::unexpected(made_resets.error());
    door = std::make_unique<Door>(std::move(*made_door));
    resets = std::move(*made_resets);
  }
  auto passive = PassiveOpen::create(settings, door.get());
  if (!passive) return tl::unexpected(passive.error());
  auto refusals = PrefixMeter::create(kRefusals);
  if (!refusals) return tl::unexpected(refusals.error());
  return Gate{std::move(door), std::move(resets), std::move(*passive), std::move(*refusals), settings.known_cookie};
}

void UdpPort::handle_listener_packet(TimePoint now, std::span<const std::byte> packet,
                                     const net::ReceivedTrain& train) {
  if (const auto reset = decode_reset(packet)) return handle_reset(*reset, train.from);
  if (UdtLink* link = known_client(packet, train.from)) return answer(link->handshake_reply, train);
  if (!welcome_) {
    if (gate_.refusals.take(now, core::prefix_of(train.from))) answer(PassiveOpen::refusal(packet), train);
    return;
  }
  auto verdict =
      gate_.passive.handle(now, packet, train.from, [&](bool proved) { return draw_numbers(proved, train.from); });
  if (verdict.accepted) {
    verdict.accepted->local_address = train.to;
    UdtLink& link = add_link(now, *verdict.accepted, verdict.proved);
    link.handshake_reply = verdict.reply;
    welcome_->on_link(link);
  }
  answer(std::move(verdict.reply), train);
}

void UdpPort::handle_reset(const Reset& reset, const Endpoint& from) {
  const auto meant = by_peer_.find({from, reset.id});
  if (meant == by_peer_.end()) return;
  meant->second->connection.handle_reset(reset.token);
  touch(*meant->second);
}

/// For a connection that is over, or that nobody here has ever known.
void UdpPort::handle_stray(TimePoint now, std::uint32_t id, std::span<const std::byte> packet,
                           const net::ReceivedTrain& train) {
  if (const auto* goodbye = tombstones_.answer(now, id, train.from, packet)) return answer(*goodbye, train);
  if (gate_.resets && !tombstones_.knows(id)) answer(gate_.resets->answer(now, packet, train.from), train);
}

/// A client asks again because our answer was lost: it gets the same.
UdtLink* UdpPort::known_client(std::span<const std::byte> packet, const Endpoint& from) {
  const auto request = decode_handshake(packet.subspan(kHeaderBytes));
  if (!request || request->request != Request::conclusion) return nullptr;
  const auto known = by_peer_.find({from, request->socket_id});
  return known != by_peer_.end() && !known->second->handshake_reply.empty() ? known->second : nullptr;
}

/// Those that have proved the key have places of their own.
std::optional<PassiveOpen::Numbers> UdpPort::draw_numbers(bool proved, const Endpoint& from) {
  const std::size_t alike = proved ? proved_links_ : links_.size() - proved_links_;
  if (alike >= kMaxLinks || !welcome_->has_room(proved)) return std::nullopt;
  for (;;) {
    const auto random = crypto::random_u64();
    if (!random) return std::nullopt;
    const auto id = static_cast<std::uint32_t>(*random) & kSequenceMask;
    if (id == 0 || links_.contains(id) || openings_.contains(id)) continue;
    const auto token = draw_token(id, from);
    return token ? std::optional(PassiveOpen::Numbers{id, *token}) : std::nullopt;
  }
}

Result<std::uint64_t> UdpPort::draw_token(std::uint32_t id, const Endpoint& peer) {
  return gate_.resets ? gate_.resets->token_of(id, peer) : crypto::random_u64();
}

// ---- Opening ------------------------------------------------------------------------------------------------------

Result<UdpPort::OpenId> UdpPort::open(const Endpoint& peer, std::chrono::milliseconds patience, OpenHandler handler) {
  const auto random = crypto::random_u64();
  if (!random) return tl::unexpected(random.error());
  auto id = static_cast<std::uint32_t>(*random >> 32) & kSequenceMask;
  while (id == 0 || links_.contains(id) || openings_.contains(id)) id = (id + 1) & kSequenceMask;
  const auto token = draw_token(id, peer);
  if (!token) return tl::unexpected(token.error());
  const OpenRequest request{peer,
                            id,
                            static_cast<std::uint32_t>(*random) & kSequenceMask,
                            mss_,
                            kFirstFlowWindow,
                            *token,
                            gate_.known_cookie,
                            gate_.door.get()};
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
                                   opening.likely_cause.empty() ? "nobody answered" : opening.likely_cause));
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
  UdtLink& link = add_link(now, opening.open.settings(), false);
  finish_opening(id, &link);
  settle(link);
}

void UdpPort::finish_opening(OpenId id, Result<UdtLink*> result) {
  const auto opening = openings_.extract(id);
  if (opening.empty()) return;
  boost::asio::post(io_, lifetime_.guard([handler = std::move(opening.mapped()->handler), result = std::move(result)] {
    handler(result);
  }));
}

UdtLink& UdpPort::add_link(TimePoint now, ConnectionSettings settings, bool proved) {
  settings.options = options_;
  settings.started = now;
  settings.random_seed = crypto::random_u64().value_or(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  UdtLink& link = *links_.emplace(settings.local_id, std::make_unique<UdtLink>(io_, settings, chunks_)).first->second;
  by_peer_.insert_or_assign(link.name, &link);
  link.proved = proved;
  if (proved) ++proved_links_;
  return link;
}

}  // namespace udtcat::transport::native
