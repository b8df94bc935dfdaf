// SPDX-License-Identifier: Apache-2.0
/// A meeting place of few words, for tests of the ends: it does as it is told, and relays nothing.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
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

  bool answers_binding = true;
  std::size_t registrations = 0;
  std::size_t asks = 0;
  std::optional<Refused> refuses;                              ///< each ask
  std::function<void(std::vector<std::byte>&)> change_answer;  ///< as a place that lies would

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
            .on_over = [] {}});
  }

  void on_message(Connection& connection, MessageStream& from, const Message& message) {
    if (std::holds_alternative<Register>(message)) {
      name_ = std::get<Register>(message).name;
      return from.send(Challenge{});
    }
    if (const auto* const proof = std::get_if<Proof>(&message)) {
      if (!registration_is_signed(*name_, Challenge{}.nonce, proof->signature)) return;
      listener_of_name_ = &connection;
      ++registrations;
      return from.send(Registered{});
    }
    const auto* const ask = std::get_if<Ask>(&message);
    if (ask == nullptr) return;
    ++asks;
    if (refuses) return from.send(*refuses);
    if (listener_of_name_ == nullptr || ask->name != name_)
      return from.send(Refused{Refused::Why::not_registered, "nobody"});
    auto& pair = streams_.emplace_back();
    pair = std::make_unique<MessageStream>(listener_of_name_->open_stream(),
                                           MessageStream::Handlers{.on_message =
                                                                       [this, &from](const Message& each) {
                                                                         if (std::holds_alternative<Refused>(each))
                                                                           return from.send(each);
                                                                         auto answer =
                                                                             std::get<AnswerToPlace>(each).answer;
                                                                         if (change_answer) change_answer(answer);
                                                                         from.send(Answered{{}, std::move(answer)});
                                                                       },
                                                                   .on_over = [] {}});
    pair->send(Offered{{}, ask->offer});
  }

  std::unique_ptr<Listener> listener_;
  std::optional<PublicKey> name_;
  Connection* listener_of_name_ = nullptr;
  std::list<std::unique_ptr<Connection>> connections_;
  std::list<std::unique_ptr<MessageStream>> streams_;
};

}  // namespace udtcat::meeting
