// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/via.hpp"

#include <gmock/gmock.h>

#include "lib/crypto/secret_bytes.hpp"
#include "lib/meeting/counting_host.hpp"
#include "lib/meeting/scripted_place.hpp"
#include "support/run_until.hpp"

namespace udtcat::meeting {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Via : public testing::Test {
 protected:
  void listen_by(std::shared_ptr<const MeetingPlace> via, const Key& with) {
    ListenRequest request;
    request.locals = {net::loopback(AddressFamily::ipv4)};
    request.credentials = with.duplicate();
    request.session.application = "test";
    request.via = std::move(via);
    listener = std::move(*udtcat::listen(
        io, std::move(request), [this](std::unique_ptr<Connection> connection) { served = std::move(connection); },
        [](const Endpoint&, const Error&) {}));
  }
  void dial_by(std::shared_ptr<const MeetingPlace> via, const Key& with, std::chrono::milliseconds timeout = 10s) {
    DialRequest request;
    request.credentials = with.duplicate();
    request.session.application = "test";
    request.timeout = timeout;
    request.via = std::move(via);
    dialer = udtcat::dial(io, std::move(request),
                          [this](Result<std::unique_ptr<Connection>> result) { made = std::move(result); });
  }
  [[nodiscard]] bool run_until_made() {
    return test::run_until(io, [this] { return made.has_value(); });
  }

  boost::asio::io_context io;
  const Key key = *Key::generate();
  std::optional<ScriptedPlace> place{io};
  std::unique_ptr<Connection> served;
  std::optional<Result<std::unique_ptr<Connection>>> made;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Dialer> dialer;
};

TEST_F(Via, APlaceTwoEndsFindEachOther) {
  listen_by(place->place(), key);
  dial_by(place->place(), key);
  ASSERT_TRUE(run_until_made());
  ASSERT_TRUE(*made) << made->error().message();
  EXPECT_EQ((**made)->peer().port(), listener->local_endpoints().front().port());
  ASSERT_TRUE(test::run_until(io, [this] { return served != nullptr; }));
}

TEST_F(Via, APlaceAConnectorWaitsForItsListener) {
  dial_by(place->place(), key);
  ASSERT_TRUE(test::run_until(io, [this] { return place->asks == 2; }));
  listen_by(place->place(), key);
  ASSERT_TRUE(run_until_made());
  EXPECT_TRUE(*made) << made->error().message();
}

TEST_F(Via, APlaceWhereNobodyIsRegisteredSaysSo) {
  listen_by(place->place(), *Key::generate());
  dial_by(place->place(), key, 1s);
  ASSERT_TRUE(run_until_made());
  ASSERT_FALSE(*made);
  EXPECT_EQ(made->error().code, Errc::cannot_reach);
  EXPECT_THAT(made->error().message(),
              testing::MatchesRegex(".*by 127.0.0.1:[0-9]+: nobody is registered there by that key: .*"));
}

TEST_F(Via, APlaceThatRefusesIsNotAskedAgain) {
  place->refuses = Refused{Refused::Why::not_allowed, "not you"};
  dial_by(place->place(), key);
  ASSERT_TRUE(run_until_made());
  EXPECT_EQ(made->error().code, Errc::authentication_failed);
  EXPECT_THAT(made->error().message(), HasSubstr("not you"));
  EXPECT_EQ(place->asks, 1);
}

TEST_F(Via, APlaceWithoutRoomIsAskedAgain) {
  place->refuses = Refused{Refused::Why::no_room, "full"};
  dial_by(place->place(), key);
  EXPECT_TRUE(test::run_until(io, [this] { return place->asks == 2; }));
  EXPECT_FALSE(made);
}

TEST_F(Via, APlaceThatChangesAnAnswerIsNotBelieved) {
  place->change_answer = [](std::span<const std::byte>, std::vector<std::byte>& answer) { answer[20] ^= std::byte{1}; };
  listen_by(place->place(), key);
  dial_by(place->place(), key);
  ASSERT_TRUE(run_until_made());
  EXPECT_EQ(made->error().code, Errc::authentication_failed);
}

TEST_F(Via, APlaceThatIsNotThereFails) {
  auto nowhere = std::make_shared<MeetingPlace>(MeetingPlace{.at = {"127.0.0.1", 1}});
  dial_by(nowhere, key, 500ms);
  ASSERT_TRUE(run_until_made());
  EXPECT_EQ(made->error().code, Errc::cannot_reach);
  EXPECT_THAT(made->error().message(), HasSubstr("reach the meeting place 127.0.0.1:1"));
}

TEST_F(Via, APlaceThatComesBackAListenerRegistersAgain) {
  listen_by(place->place(), key);
  ASSERT_TRUE(test::run_until(io, [this] { return place->registrations == 1; }));
  const std::uint16_t port = place->place()->at.port;
  place.reset();
  place.emplace(io, port);
  ASSERT_TRUE(test::run_until(io, [this] { return place->registrations == 1; }));
}

/// A relay that answers nobody, so that it is asked again and again.
class ViaWithRelay : public Via {
 protected:
  void SetUp() override {
    listen_by(place->place(), key);
    ASSERT_TRUE(test::run_until(io, [this] { return place->registrations == 1; }));
    const auto name = *own_name(key.duplicate());
    Offer offer;
    offer.application = "test";
    ASSERT_TRUE(crypto::randomise(offer.id));
    place->offer(name->public_key(), sign(offer, *name, name->public_key()).value(), {.udp_port = relay.port()});
    ASSERT_TRUE(test::run_until(io, [this] { return relay.datagrams() > 0; }));
  }
  CountingHost relay{io, 1};
};

TEST_F(ViaWithRelay, APlaceThatIsLostAListenerBindsAtItsRelaysAllTheSame) {
  place.reset();
  test::run_for(io, 500ms);  // until it knows
  const std::size_t before = relay.datagrams();
  EXPECT_TRUE(test::run_until(io, [&] { return relay.datagrams() >= before + 4; }));
}

TEST_F(Via, APlaceTheListenerTakesItsOwnKeyOnly) {
  listen_by(place->place(), key);
  ASSERT_TRUE(test::run_until(io, [this] { return place->registrations == 1; }));
  DialRequest request;
  const auto stranger = std::make_shared<const KeyPair>(*KeyPair::generate());
  const PublicKey name = (*own_name(key.duplicate()))->public_key();
  request.credentials = PairCredentials{stranger, one_known_peer({"listener", name}), name};
  request.session.application = "test";
  request.via = place->place();
  dialer = udtcat::dial(io, std::move(request),
                        [this](Result<std::unique_ptr<Connection>> result) { made = std::move(result); });
  ASSERT_TRUE(run_until_made());
  EXPECT_EQ(made->error().code, Errc::authentication_failed);
  EXPECT_THAT(made->error().message(), HasSubstr("the listener refuses"));
}

TEST_F(Via, APlaceNeedsAKey) {
  DialRequest request;
  request.session.application = "test";
  request.session.protection = Protection::clear;
  request.via = place->place();
  dialer = udtcat::dial(io, std::move(request),
                        [this](Result<std::unique_ptr<Connection>> result) { made = std::move(result); });
  ASSERT_TRUE(run_until_made());
  EXPECT_EQ(made->error().code, Errc::bad_argument);
}

}  // namespace
}  // namespace udtcat::meeting
