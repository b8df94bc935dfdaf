// SPDX-License-Identifier: Apache-2.0
/// A place on loopback, and ends with real sessions.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <udtcat/peering.hpp>

#include "lib/meeting/message_stream.hpp"
#include "lib/meeting/signed_messages.hpp"
#include "meet/place.hpp"
#include "meet/place_session.hpp"
#include "support/addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::meet {

/// A stream of an end with the place, and what has come by it.
struct EndStream {
  std::deque<meeting::Message> messages;
  bool over = false;
  std::unique_ptr<meeting::MessageStream> stream;

  EndStream() = default;
  explicit EndStream(std::unique_ptr<Stream> made) { take(std::move(made)); }
  void take(std::unique_ptr<Stream> made) {
    stream = std::make_unique<meeting::MessageStream>(
        std::move(made), meeting::MessageStream::Handlers{
                             .on_message = [this](const meeting::Message& message) { messages.push_back(message); },
                             .on_over = [this](const Status&) { over = true; }});
  }
};

/// An end's session with the place.
struct TestPeer {
  std::unique_ptr<Connection> connection;
  std::list<EndStream> offers;  ///< streams that the place has opened

  EndStream& open() { return streams_.emplace_back(connection->open_stream()); }

 private:
  std::list<EndStream> streams_;
};

class MeetingFixture : public testing::Test {
 protected:
  void start(const PlaceLimits& limits = {}) {
    ListenRequest request{.locals = {test::loopback(AddressFamily::ipv4)},
                          .credentials = key_.duplicate(),
                          .session = {},
                          .transport = {}};
    request.session.application = meeting::kApplication;
    make_small(request.session, request.transport);
    auto listening = listen(
        io_, std::move(request), [this](std::unique_ptr<Connection> connection) { place_->add(std::move(connection)); },
        [](const Endpoint&, const Error&) {});
    ASSERT_TRUE(listening) << listening.error().message();
    listener_ = std::move(*listening);
    place_ = std::make_unique<Place>(
        io_, limits, PairTable::Settings{.locals = listener_->local_endpoints(), .any_ports = true, .relays_tcp = true},
        [this](const Connection&, const Error& why) { refusals_.push_back(why); });
    listener_->on_relay([this](TcpRelay::Socket socket, const Listener::RelayToken& token, const Endpoint& from) {
      place_->take(std::move(socket), token, from);
    });
  }
  /// takes   streams of the place at a time
  TestPeer& come(std::size_t takes = PlaceSession::kMaxOpenStreams) {
    DialRequest request{.addresses = listener_->local_endpoints(),
                        .peer_name = "the place",
                        .credentials = key_.duplicate(),
                        .session = {},
                        .transport = {}};
    request.session.application = meeting::kApplication;
    make_small(request.session, request.transport);
    request.session.streams = takes;
    TestPeer& peer = peers_.emplace_back();
    const auto dialer = dial(io_, std::move(request), [&](Result<std::unique_ptr<Connection>> connection) {
      EXPECT_TRUE(connection) << connection.error().message();
      if (connection) peer.connection = std::move(*connection);
    });
    EXPECT_TRUE(test::run_until(io_, [&] { return peer.connection != nullptr; }));
    peer.connection->on_stream([&peer](StreamId id) { peer.offers.emplace_back(peer.connection->accept_stream(id)); });
    return peer;
  }
  /// The next message, of that kind; none: the stream is over, or another came.
  template <typename Message>
  std::optional<Message> next(EndStream& stream) {
    EXPECT_TRUE(test::run_until(io_, [&] { return stream.over || !stream.messages.empty(); }));
    if (stream.messages.empty()) return std::nullopt;
    const meeting::Message message = stream.messages.front();
    stream.messages.pop_front();
    const auto* const wanted = std::get_if<Message>(&message);
    return wanted == nullptr ? std::nullopt : std::optional(*wanted);
  }
  /// Whether it was taken.
  bool register_name(EndStream& stream, const KeyPair& name) {
    stream.stream->send(meeting::Register{name.public_key()});
    const auto challenge = next<meeting::Challenge>(stream);
    if (!challenge) return false;
    stream.stream->send(meeting::Proof{meeting::sign_registration(name, challenge->nonce).value()});
    return next<meeting::Registered>(stream).has_value();
  }
  static meeting::Ask ask_for(const KeyPair& name) {
    return {name.public_key(), std::vector<std::byte>(100, std::byte{42})};
  }
  EndStream& next_offer(TestPeer& peer, std::size_t count = 1) {
    EXPECT_TRUE(test::run_until(io_, [&] { return peer.offers.size() >= count; }));
    return peer.offers.back();
  }
  bool until(const std::function<bool()>& done) { return test::run_until(io_, done); }
  [[nodiscard]] std::size_t pairs() const { return place_->pairs().all().size(); }

  boost::asio::io_context io_;
  Key key_ = Key::generate().value();
  KeyPair name_ = KeyPair::generate().value();
  std::vector<Error> refusals_;
  std::unique_ptr<Place> place_;
  std::unique_ptr<Listener> listener_;
  std::list<TestPeer> peers_;
};

}  // namespace udtcat::meet
