// SPDX-License-Identifier: Apache-2.0
#include "meet/client_stream.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "lib/crypto/secret_bytes.hpp"
#include "lib/meeting/signed_messages.hpp"

namespace udtcat::meet {

namespace {

using Why = meeting::Refused::Why;

/// The codes by which refusals are counted.
Errc code_of(Why why) {
  switch (why) {
    case Why::no_room:
      return Errc::out_of_resources;
    case Why::not_allowed:
      return Errc::authentication_failed;
    default:
      return Errc::stream_refused;
  }
}

/// Whether the peer has ended the stream, or its session has broken, which need not end that of the pair.
StreamEnd end_of(const Status& how) {
  if (how) return StreamEnd::ended;
  const Errc code = how.error().code;
  const bool by_peer =
      code == Errc::remote_read_failed || code == Errc::remote_write_failed || code == Errc::peer_interrupted;
  return by_peer ? StreamEnd::ended : StreamEnd::lost;
}

}  // namespace

ClientStream::ClientStream(PlaceState& place, const PeerOfStream& peer, std::unique_ptr<Stream> stream)
    : place_(place),
      peer_(peer),
      patience_(place.io),
      messages_(std::move(stream), {.on_message = [this](const meeting::Message& message) { on_message(message); },
                                    .on_over = [this](const Status& how) { end(end_of(how)); }}) {
  wait();
}

void ClientStream::wait() {
  patience_.expires_after(place_.limits.patience);
  patience_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    const bool waits = state_ == State::fresh || state_ == State::challenged || state_ == State::refused;
    if (!cancelled && waits) end(StreamEnd::ended);
  }));
}

void ClientStream::on_message(const meeting::Message& message) {
  if (state_ == State::refused || state_ == State::over) return;
  if (const auto* const registers = std::get_if<meeting::Register>(&message); registers && state_ == State::fresh)
    return challenge(*registers);
  if (const auto* const proof = std::get_if<meeting::Proof>(&message); proof && state_ == State::challenged)
    return prove(*proof);
  if (const auto* const asks = std::get_if<meeting::Ask>(&message); asks && state_ == State::fresh) return ask(*asks);
  if (std::holds_alternative<meeting::Again>(message) && state_ == State::paired) return place_.pairs.again(*pair_);
  end(StreamEnd::ended);  // a message at the wrong time
}

// ---- Listeners ----------------------------------------------------------------------------------------------------

void ClientStream::challenge(const meeting::Register& message) {
  if (!place_.ledger.add_registration(peer_.peer))
    return refuse({Why::no_room, "it has as many registrations as it takes, in all or of one peer"});
  state_ = State::challenged;
  name_ = message.name;
  if (const auto drawn = crypto::randomise(challenge_.nonce); !drawn)
    return refuse({Why::no_room, drawn.error().message()});
  messages_.send(challenge_);
}

void ClientStream::prove(const meeting::Proof& message) {
  if (!meeting::registration_is_signed(*name_, challenge_.nonce, message.signature))
    return refuse({Why::not_allowed, "the registration is not signed by the key of that name"});
  state_ = State::registered;
  patience_.cancel();
  listener_ = {&peer_.connection, peer_.text};
  place_.registry.add(*name_, listener_);
  messages_.send(meeting::Registered{});
}

// ---- Connectors ---------------------------------------------------------------------------------------------------

void ClientStream::ask(const meeting::Ask& message) {
  if (!place_.ledger.add_ask(peer_.peer, std::chrono::steady_clock::now())) {
    if (std::exchange(asks_too_fast_, true)) return end(StreamEnd::ended);  // it does not wait for answers
    return refuse({Why::no_room, fmt::format("more than {} asks a second", place_.limits.asks_each_second)});
  }
  asks_too_fast_ = false;
  const RegisteredListener* const listener = place_.registry.find(message.name);
  if (listener == nullptr) return on_refused({Why::not_registered, "nobody is registered by that name"});
  auto pair =
      place_.pairs.add(*listener, peer_.text, peer_.peer, message.offer,
                       {.to_connector = lifetime_.guard([this](const meeting::Message& each) { on_from_pair(each); }),
                        .on_refused = lifetime_.guard([this](const meeting::Refused& why) { on_refused(why); })});
  if (!pair) return refuse(pair.error());
  pair_ = *pair;
  state_ = State::asking;
  patience_.cancel();
}

void ClientStream::on_from_pair(const meeting::Message& message) {
  if (state_ == State::asking) state_ = State::paired;
  messages_.send(message);
}

/// It may ask again, by this stream.
void ClientStream::on_refused(const meeting::Refused& why) {
  pair_.reset();
  state_ = State::fresh;
  wait();
  messages_.send(why);
}

// ---- The end ------------------------------------------------------------------------------------------------------

void ClientStream::refuse(meeting::Refused why) {
  place_.on_refused(peer_.connection, {code_of(why.why), "serve " + peer_.text, why.text});
  if (state_ == State::fresh) return on_refused(why);
  release(StreamEnd::ended);
  state_ = State::refused;
  wait();
  messages_.send(why);
  messages_.finish();
}

/// Gives back what it has of the place.
void ClientStream::release(StreamEnd how) {
  if (state_ == State::registered) place_.registry.remove(*name_, listener_);
  if (state_ == State::registered || state_ == State::challenged) place_.ledger.remove_registration(peer_.peer);
  if (pair_) place_.pairs.leave(*std::exchange(pair_, std::nullopt), how);
}

void ClientStream::end(StreamEnd how) {
  release(how);
  state_ = State::over;
  patience_.cancel();
  messages_.finish();
}

}  // namespace udtcat::meet
