// SPDX-License-Identifier: Apache-2.0
/// A meeting place of few words, for tests of the ends: it does as it is told, and relays nothing.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "lib/connection/direct.hpp"
#include "lib/meeting/message_stream.hpp"
#include "lib/meeting/names.hpp"
#include "lib/meeting/signed_messages.hpp"
#include "lib/net/bind.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meeting {

/// Threads: confined to the io_context thread.
class ScriptedPlace {
 public:
  explicit ScriptedPlace(boost::asio::io_context& io, std::uint16_t port = 0) {
    ListenRequest request;
    request.locals = {net::loopback(AddressFamily::ipv4).with_port(port)};
    request.credentials = std::move(*public_place_key());
    request.session.application = kApplication;
    request.transport.kind = TransportKind::native;  // its TCP port is a test's own
    listener_ = std::move(*connection::listen_directly(
        io, std::move(request), [this](std::unique_ptr<Connection> connection) { serve(std::move(connection)); },
        [](const Endpoint&, const Error&) {}));
    listener_->on_stun([this](const Endpoint& from, std::span<const std::byte> message) {
      const auto asked = net::decode_stun(message);
      if (!asked || !answers_binding) return;
      listener_->send_stun(from, net::encode({.type = net::StunMessage::Type::success,
                                              .transaction = asked->transaction,
                                              .mapped_address = from}));
    });
  }

  [[nodiscard]] std::shared_ptr<const MeetingPlace> place() const {
    auto place = std::make_shared<MeetingPlace>();
    place->at = {"127.0.0.1", listener_->local_endpoints().front().port()};
    return place;
  }

  /// A stream to the listener of that name, as for a pair, with an offer of anybody's.
  void offer(const PublicKey& name, std::vector<std::byte> offer, const Relay& relay = {}) {
    auto& pair = streams_.emplace_back();
    pair = std::make_unique<MessageStream>(listeners_.at(name)->open_stream(),
                                           MessageStream::Handlers{.on_message =
                                                                       [this](const Message& each) {
                                                                         if (std::holds_alternative<Refused>(each))
                                                                           ++refusals_of_listeners;
                                                                         else
                                                                           ++answers_of_listeners;
                                                                       },
                                                                   .on_over = [](const Status&) {}});
    pair->send(Offered{relay, std::move(offer)});
  }
  /// By the stream that was opened last.
  void again() { streams_.back()->send(Again{}); }
  void connect() { streams_.back()->send(Connect{}); }

  bool answers_binding = true;
  std::size_t registrations = 0;
  std::size_t asks = 0;
  std::size_t answers_of_listeners = 0;   ///< to offer()
  std::size_t refusals_of_listeners = 0;  ///< likewise
  std::optional<Refused> refuses;         ///< each ask

  /// As places that lie would.
  std::optional<PublicKey> leads_to;  ///< whoever is asked for
  std::function<void(std::span<const std::byte> offer, std::vector<std::byte>& answer)> change_answer;
  /// Of its own, in the place of any listener.
  std::function<std::optional<std::vector<std::byte>>(std::span<const std::byte> offer)> answers;

 private:
  void serve(std::unique_ptr<Connection> made) {
    Connection& connection = *connections_.emplace_back(std::move(made));
    connection.on_stream([this, &connection](StreamId id) { take(connection, connection.accept_stream(id)); });
  }

  void take(Connection& connection, std::unique_ptr<Stream> stream) {
    const auto at = streams_.emplace(streams_.end());
    *at = std::make_unique<MessageStream>(
        std::move(stream),
        MessageStream::Handlers{
            .on_message = [this, &connection, at](const Message& message) { on_message(connection, **at, message); },
            .on_over = [](const Status&) {}});
  }

  void on_message(Connection& connection, MessageStream& from, const Message& message) {
    if (const auto* const registers = std::get_if<Register>(&message)) {
      names_.insert_or_assign(&from, registers->name);
      return from.send(Challenge{});
    }
    if (const auto* const proof = std::get_if<Proof>(&message)) {
      const PublicKey name = names_.at(&from);
      if (!registration_is_signed(name, Challenge{}.nonce, proof->signature)) return;
      listeners_[name] = &connection;
      ++registrations;
      return from.send(Registered{});
    }
    const auto* const ask = std::get_if<Ask>(&message);
    if (ask == nullptr) return;
    ++asks;
    if (refuses) return from.send(*refuses);
    if (answers)
      if (auto answer = answers(ask->offer)) return from.send(Answered{{}, std::move(*answer)});
    const auto listener = listeners_.find(leads_to.value_or(ask->name));
    if (listener == listeners_.end()) return from.send(Refused{Refused::Why::not_registered, "nobody"});
    auto& pair = streams_.emplace_back();
    const auto pass_on = [this, &from, offer = ask->offer](const Message& each) {
      if (std::holds_alternative<Refused>(each)) return from.send(each);
      auto answer = std::get<AnswerToPlace>(each).answer;
      if (change_answer) change_answer(offer, answer);
      from.send(Answered{{}, std::move(answer)});
    };
    pair = std::make_unique<MessageStream>(
        listener->second->open_stream(),
        MessageStream::Handlers{.on_message = pass_on, .on_over = [](const Status&) {}});
    pair->send(Offered{{}, ask->offer});
  }

  std::unique_ptr<Listener> listener_;
  std::map<const MessageStream*, PublicKey> names_;  // that are being registered
  std::map<PublicKey, Connection*> listeners_;
  std::list<std::unique_ptr<Connection>> connections_;
  std::list<std::unique_ptr<MessageStream>> streams_;
};

}  // namespace udtcat::meeting
