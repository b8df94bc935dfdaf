// SPDX-License-Identifier: Apache-2.0
#include "meet/pair.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::meet {

using Why = meeting::Refused::Why;

Pair::Pair(boost::asio::io_context& io, const PlaceLimits& limits, Names names, const RelayTokens& tokens,
           Relays relays, Handlers handlers)
    : limits_(limits),
      names_(std::move(names)),
      tokens_(tokens),
      relays_(std::move(relays)),
      handlers_(std::move(handlers)),
      made_at_(std::chrono::steady_clock::now()),
      patience_(io) {}

void Pair::offer(std::unique_ptr<Stream> to_listener, std::vector<std::byte> signed_offer) {
  to_listener_ = std::make_unique<meeting::MessageStream>(
      std::move(to_listener),
      meeting::MessageStream::Handlers{.on_message = [this](const meeting::Message& message) { on_message(message); },
                                       .on_over = [this](const Status& /*all are alike*/) { on_listener_left(); }});
  to_listener_->send(meeting::Offered{relay_of(PairRole::listener), std::move(signed_offer)});
  patience_.expires_after(limits_.patience);
  patience_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled && state_ == State::offered) refuse(Why::not_registered, "it does not answer the place");
  }));
}

meeting::Relay Pair::relay_of(PairRole role) const {
  return {.by_tcp = relays_.tcp != nullptr,
          .udp_port = relays_.datagrams ? relays_.datagrams->port() : std::uint16_t{0},
          .token = tokens_[index_of(role)]};
}

std::optional<PairRole> Pair::role_of(const meeting::Relay::Token& token) const {
  if (state_ != State::answered || !relays_.tcp) return std::nullopt;
  for (const PairRole role : {PairRole::listener, PairRole::connector})
    if (crypto::same(tokens_[index_of(role)], token)) return role;
  return std::nullopt;
}

void Pair::take(PairRole from, TcpRelay::Socket socket) {
  relays_.tcp->take(from, std::move(socket));
  if (from == PairRole::connector && has_listener_ && !relays_.tcp->has(PairRole::listener))
    to_listener_->send(meeting::Connect{});
}

RelayCounts Pair::counts(PairRole role) const {
  RelayCounts counts;
  if (relays_.datagrams) counts += relays_.datagrams->counts(role);
  if (relays_.tcp) counts += relays_.tcp->counts(role);
  return counts;
}

void Pair::on_message(const meeting::Message& message) {
  if (state_ == State::over) return;
  const auto* const answer = std::get_if<meeting::AnswerToPlace>(&message);
  if (answer != nullptr && state_ == State::offered) {
    state_ = State::answered;
    patience_.cancel();
    if (has_connector_) handlers_.to_connector(meeting::Answered{relay_of(PairRole::connector), answer->answer});
    return;
  }
  if (const auto* const refused = std::get_if<meeting::Refused>(&message); refused && state_ == State::offered)
    return refuse(Why::by_listener, refused->text);
  // A message at the wrong time.
  on_listener_left();
}

void Pair::on_listener_left() {
  if (!std::exchange(has_listener_, false)) return;
  left_at_ = std::chrono::steady_clock::now();
  to_listener_->finish();
  if (state_ == State::offered) refuse(Why::not_registered, "it has left the place");
}

void Pair::leave(StreamEnd how) {
  has_connector_ = false;
  stream_end_ = how;
  left_at_ = std::chrono::steady_clock::now();
}

void Pair::again() {
  if (state_ != State::answered || !has_listener_) return;
  const auto now = std::chrono::steady_clock::now();
  if (again_at_ && now - *again_at_ < limits_.again_pause) return;
  again_at_ = now;
  to_listener_->send(meeting::Again{});
}

void Pair::refuse(Why why, std::string text) {
  state_ = State::over;
  patience_.cancel();
  to_listener_->finish();
  const auto handler = handlers_.on_refused;  // a copy: it may destroy this
  if (has_connector_) handler({why, std::move(text)});
}

bool Pair::is_idle(TimePoint now) const {
  if (state_ == State::over) return true;
  if (has_connector_) return false;
  TimePoint used_at = left_at_;
  if (relays_.datagrams) used_at = std::max(used_at, relays_.datagrams->last_use());
  if (relays_.tcp) used_at = std::max(used_at, relays_.tcp->last_use());
  return now - used_at >= (stream_end_ == StreamEnd::ended ? limits_.pair_ended : limits_.pair_idle);
}

}  // namespace udtcat::meet
