// SPDX-License-Identifier: Apache-2.0
#include "meet/place.hpp"

#include <array>
#include <fstream>
#include <iostream>
#include <string>

#include <unistd.h>

#include <boost/asio/write.hpp>

#include "lib/transport/tcp/preface.hpp"
#include "meet/meeting_fixture.hpp"
#include "support/scale.hpp"

namespace udtcat::meet {
namespace {

using namespace std::chrono_literals;
using meeting::Refused;
using Why = Refused::Why;

class PlaceTest : public MeetingFixture {};

TEST_F(PlaceTest, BringsTwoEndsTogether) {
  start();
  TestPeer& listener = come();
  EXPECT_TRUE(register_name(listener.open(), name_));
  TestPeer& connector = come();
  EndStream& asking = connector.open();
  asking.stream->send(ask_for(name_));
  EndStream& offered = next_offer(listener);
  const auto offer = next<meeting::Offered>(offered);
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->offer, ask_for(name_).offer);
  offered.stream->send(meeting::AnswerToPlace{{std::byte{7}}});
  const auto answer = next<meeting::Answered>(asking);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->answer, std::vector{std::byte{7}});
  EXPECT_EQ(answer->relay.udp_port, offer->relay.udp_port);
  EXPECT_NE(answer->relay.udp_port, 0);
  EXPECT_NE(answer->relay.token, offer->relay.token);
}

/// Proves: meet.again-once
TEST_F(PlaceTest, PassesAgainOnAtMostOnceInAWhile) {
  EXPECT_EQ(PlaceLimits().again_pause, 1s) << "unless a test says otherwise";
  start({.again_pause = 24h});
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  EndStream& asking = come().open();
  asking.stream->send(ask_for(name_));
  EndStream& offered = next_offer(listener);
  ASSERT_TRUE(next<meeting::Offered>(offered));
  offered.stream->send(meeting::AnswerToPlace{{std::byte{7}}});
  ASSERT_TRUE(next<meeting::Answered>(asking));
  for (int i = 0; i < 100; ++i) {
    asking.stream->send(meeting::Again{});
    test::run_ready(io_);
  }
  EXPECT_TRUE(next<meeting::Again>(offered));
  test::run_for(io_, 50ms);
  EXPECT_TRUE(offered.messages.empty() && asking.messages.empty());
}

/// A connection to a place that begins with a token, and a word.
boost::asio::ip::tcp::socket come_by_tcp(boost::asio::io_context& io, const Endpoint& place,
                                         const meeting::Relay::Token& token, std::string_view word) {
  using transport::tcp::PrefaceType;
  boost::asio::ip::tcp::socket socket(io);
  socket.connect({boost::asio::ip::address_v4::loopback(), place.port()});
  const auto preface = transport::tcp::encode({.type = PrefaceType::relay, .value = token});
  boost::asio::write(socket, boost::asio::buffer(preface));
  boost::asio::write(socket, boost::asio::buffer(word));
  socket.non_blocking(true);
  return socket;
}

/// Proves: meet.tcp-when-needed
TEST_F(PlaceTest, JoinsTheTcpConnectionsOfAPair) {
  start();
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  EndStream& asking = come().open();
  asking.stream->send(ask_for(name_));
  EndStream& offered = next_offer(listener);
  const auto offer = next<meeting::Offered>(offered);
  ASSERT_TRUE(offer);
  EXPECT_TRUE(offer->relay.by_tcp);
  const Endpoint place = listener_->local_endpoints().front();
  std::array<char, 100> heard{};
  const auto has_ended = [&](boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code error;
    std::ignore = socket.read_some(boost::asio::buffer(heard), error);
    return error == boost::asio::error::eof || error == boost::asio::error::connection_reset;
  };
  auto early = come_by_tcp(io_, place, offer->relay.token, "");
  EXPECT_TRUE(until([&] { return has_ended(early); })) << "before the answer nobody knows a token";
  offered.stream->send(meeting::AnswerToPlace{{std::byte{7}}});
  const auto answer = next<meeting::Answered>(asking);
  ASSERT_TRUE(answer);
  auto stranger = come_by_tcp(io_, place, {std::byte{1}}, "");
  EXPECT_TRUE(until([&] { return has_ended(stranger); }));
  EXPECT_TRUE(offered.messages.empty()) << "the listener is asked for TCP once the connector has come by it";
  auto connector = come_by_tcp(io_, place, answer->relay.token, "hello");
  ASSERT_TRUE(next<meeting::Connect>(offered));
  auto other = come_by_tcp(io_, place, offer->relay.token, "");
  std::string words;
  EXPECT_TRUE(until([&] {
    boost::system::error_code nothing;
    words.append(heard.data(), other.read_some(boost::asio::buffer(heard), nothing));
    return words == "hello";
  }));
  const Pair& pair = *place_->pairs().all().begin()->second;
  EXPECT_EQ(pair.counts(PairRole::connector).relayed_bytes, 5U);
}

TEST_F(PlaceTest, SaysThatNobodyIsThereAndMayBeAskedAgain) {
  start();
  EndStream& asking = come().open();
  for (int i = 0; i < 3; ++i) {
    asking.stream->send(ask_for(name_));
    const auto refused = next<Refused>(asking);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->why, Why::not_registered);
  }
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  asking.stream->send(ask_for(name_));
  EXPECT_TRUE(next<meeting::Offered>(next_offer(listener)));
}

TEST_F(PlaceTest, SaysThatAListenerHasAsManyPairsAsItTakes) {
  start();
  TestPeer& listener = come(1);
  ASSERT_TRUE(register_name(listener.open(), name_));
  TestPeer& connector = come();
  connector.open().stream->send(ask_for(name_));
  next_offer(listener);
  EndStream& asking = connector.open();
  asking.stream->send(ask_for(name_));
  const auto refused = next<Refused>(asking);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Why::no_room);
  EXPECT_EQ(refused->text, "the listener has as many pairs as it can have");
}

TEST_F(PlaceTest, RegistersNobodyByAKeyThatHeDoesNotHold) {
  start();
  const KeyPair other = KeyPair::generate().value();
  EndStream& stream = come().open();
  stream.stream->send(meeting::Register{name_.public_key()});
  const auto challenge = next<meeting::Challenge>(stream);
  ASSERT_TRUE(challenge);
  stream.stream->send(meeting::Proof{meeting::sign_registration(other, challenge->nonce).value()});
  const auto refused = next<Refused>(stream);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Why::not_allowed);
  EXPECT_EQ(place_->registrations(), 0U);
  ASSERT_EQ(refusals_.size(), 1U);
  EXPECT_EQ(refusals_.front().code, Errc::authentication_failed);
}

TEST_F(PlaceTest, TakesNoProofTwice) {
  start();
  TestPeer& peer = come();
  EndStream& first = peer.open();
  first.stream->send(meeting::Register{name_.public_key()});
  const auto challenge = next<meeting::Challenge>(first);
  ASSERT_TRUE(challenge);
  const meeting::Proof proof{meeting::sign_registration(name_, challenge->nonce).value()};
  first.stream->send(proof);
  ASSERT_TRUE(next<meeting::Registered>(first));
  EndStream& second = peer.open();
  second.stream->send(meeting::Register{name_.public_key()});
  ASSERT_TRUE(next<meeting::Challenge>(second));
  second.stream->send(proof);
  EXPECT_TRUE(next<Refused>(second));
}

TEST_F(PlaceTest, AsksTheLatestOfSeveralByOneName) {
  start();
  TestPeer& first = come();
  ASSERT_TRUE(register_name(first.open(), name_));
  TestPeer& second = come();
  ASSERT_TRUE(register_name(second.open(), name_));
  TestPeer& connector = come();
  connector.open().stream->send(ask_for(name_));
  next_offer(second);
  EXPECT_TRUE(first.offers.empty());
  second.connection.reset();
  EXPECT_TRUE(until([&] { return place_->registrations() == 1; }));
  connector.open().stream->send(ask_for(name_));
  next_offer(first);
}

TEST_F(PlaceTest, HandsARefusalOn) {
  start();
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  EndStream& asking = come().open();
  asking.stream->send(ask_for(name_));
  EndStream& offered = next_offer(listener);
  offered.stream->send(Refused{Why::by_listener, "not for you"});
  const auto refused = next<Refused>(asking);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Why::by_listener);
  EXPECT_EQ(refused->text, "not for you");
  EXPECT_TRUE(until([&] { return pairs() == 0; }));
}

TEST_F(PlaceTest, WaitsForAnAnswerNotForEver) {
  start({.patience = 100ms});
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  EndStream& asking = come().open();
  asking.stream->send(ask_for(name_));
  const auto refused = next<Refused>(asking);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Why::not_registered);
  EXPECT_TRUE(until([&] { return pairs() == 0; }));
}

TEST_F(PlaceTest, WaitsForARegistrationNotForEver) {
  start({.patience = 100ms});
  TestPeer& peer = come();
  EndStream& silent = peer.open();
  EndStream& begun = peer.open();
  begun.stream->send(meeting::Register{name_.public_key()});
  EXPECT_TRUE(until([&] { return silent.over && begun.over; }));
  EXPECT_EQ(place_->registrations(), 0U);
}

/// Proves: threat-model.place-memory
TEST_F(PlaceTest, LetsNoOneHaveMoreThanHisShare) {
  start({.registrations_of_one = 2, .pairs_of_one = 2, .asks_each_second = 1000});
  TestPeer& peer = come();
  ASSERT_TRUE(register_name(peer.open(), name_));
  ASSERT_TRUE(register_name(peer.open(), KeyPair::generate().value()));
  EndStream& third = peer.open();
  third.stream->send(meeting::Register{name_.public_key()});
  const auto full = next<Refused>(third);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->why, Why::no_room);
  for (int i = 0; i < 2; ++i) peer.open().stream->send(ask_for(name_));
  next_offer(peer, 2);
  EndStream& asking = peer.open();
  asking.stream->send(ask_for(name_));
  const auto refused = next<Refused>(asking);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Why::no_room);
}

/// Of this process, in which both sides are.
std::size_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  std::size_t pages = 0;
  status >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Proves: threat-model.place-memory
TEST_F(PlaceTest, HoldsItsLimitsAndItsMemoryAgainstTenThousandRegistrations) {
  constexpr std::size_t kRegistrations = 256;
  constexpr std::size_t kTries = 10'000;
  start({.registrations = kRegistrations, .registrations_of_one = kTries});
  std::size_t refused = 0;
  std::optional<std::size_t> when_full;
  std::list<EndStream> streams;
  TestPeer* peer = &come();
  for (std::size_t tries = 0; tries < kTries; ++tries) {
    if (peer->connection->streams_left() == 0) peer = &come();
    EndStream& stream = streams.emplace_back(peer->connection->open_stream());
    stream.stream->send(meeting::Register{name_.public_key()});
    ASSERT_TRUE(until([&] { return !stream.messages.empty() || stream.over; }));
    if (const auto challenge = next<meeting::Challenge>(stream)) {
      stream.stream->send(meeting::Proof{meeting::sign_registration(name_, challenge->nonce).value()});
      ASSERT_TRUE(next<meeting::Registered>(stream));
    } else {
      ++refused;
      streams.pop_back();
    }
    if (place_->registrations() == kRegistrations && !when_full) when_full = resident_bytes();
    ASSERT_LE(place_->registrations(), kRegistrations);
  }
  EXPECT_EQ(refused, kTries - kRegistrations);
  ASSERT_TRUE(when_full);
  const std::size_t now = resident_bytes();
  std::cout << "when full " << *when_full / 1'000'000 << " MB, after all " << now / 1'000'000 << " MB\n";
  if (!test::kSanitized) {
    EXPECT_LE(now, *when_full + 32'000'000) << "what is refused is forgotten";
  }
}

TEST_F(PlaceTest, AnswersSoManyAsksASecondAndEndsAStreamThatGoesOn) {
  start({.asks_each_second = 10});
  TestPeer& peer = come();
  EndStream& asking = peer.open();
  std::vector<Why> refusals;
  while (!asking.over && refusals.size() < 60) {
    asking.stream->send(ask_for(name_));
    if (const auto refused = next<Refused>(asking)) refusals.push_back(refused->why);
  }
  EXPECT_TRUE(asking.over);
  EXPECT_GT(refusals.size(), 10U);
  EXPECT_EQ(refusals.back(), Why::no_room);
  EXPECT_TRUE(register_name(peer.open(), name_)) << "the session goes on";
}

TEST_F(PlaceTest, EndsAStreamThatSaysWhatItDoesNotKnow) {
  start();
  TestPeer& peer = come();
  EndStream& wrong_time = peer.open();
  wrong_time.stream->send(meeting::Again{});
  const auto raw = peer.connection->open_stream();
  const std::vector<std::byte> unknown{std::byte{0x70}, std::byte{0}, std::byte{0}, std::byte{0}};
  std::vector<std::byte> into(10);
  bool over = false;
  raw->async_write(unknown, [](const Status&) {});
  raw->async_read(into, [&](const Result<std::size_t>& read) { over = !read || *read == 0; });
  EXPECT_TRUE(until([&] { return wrong_time.over && over; }));
  EXPECT_TRUE(register_name(peer.open(), name_)) << "the session goes on";
}

TEST_F(PlaceTest, ForgetsAnEndThatHasGone) {
  start();
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  TestPeer& connector = come();
  EndStream& asking = connector.open();
  asking.stream->send(ask_for(name_));
  next_offer(listener);
  connector.connection->abort({Errc::interrupted, "gone", ""});
  EXPECT_TRUE(until([&] { return pairs() == 0 && place_->all_sessions().size() == 1; })) << "it had no answer yet";
  listener.connection->abort({Errc::interrupted, "gone", ""});
  EXPECT_TRUE(until([&] { return place_->registrations() == 0 && place_->all_sessions().empty(); }));
}

TEST_F(PlaceTest, KeepsAPairWithoutItsStreamsForAWhile) {
  start({.pair_idle = 1500ms});
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  TestPeer& connector = come();
  EndStream& asking = connector.open();
  asking.stream->send(ask_for(name_));
  next_offer(listener).stream->send(meeting::AnswerToPlace{{std::byte{7}}});
  ASSERT_TRUE(next<meeting::Answered>(asking));
  const auto left = std::chrono::steady_clock::now();
  connector.connection->abort({Errc::interrupted, "gone", ""});
  EXPECT_TRUE(until([&] { return pairs() == 0; }));
  EXPECT_GE(std::chrono::steady_clock::now() - left, 1500ms);
}

TEST_F(PlaceTest, ForgetsAPairSoonWhoseConnectorHasEndedItsStream) {
  start({.pair_idle = 24h, .pair_ended = 100ms});
  TestPeer& listener = come();
  ASSERT_TRUE(register_name(listener.open(), name_));
  EndStream& asking = come().open();
  asking.stream->send(ask_for(name_));
  next_offer(listener).stream->send(meeting::AnswerToPlace{{std::byte{7}}});
  ASSERT_TRUE(next<meeting::Answered>(asking));
  EXPECT_EQ(pairs(), 1U);
  asking.stream.reset();
  EXPECT_TRUE(until([&] { return pairs() == 0; }));
}

TEST_F(PlaceTest, PartsFromAPeerThatWantsNothing) {
  start({.session_idle = 1ms});
  TestPeer& idle = come();
  bool closed = false;
  idle.connection->on_closed([&](const Status&) { closed = true; });
  idle.connection->on_stream([](StreamId) {});
  EXPECT_TRUE(until([&] {
    if (place_->all_sessions().size() == 1) idle.connection->close();
    return place_->all_sessions().empty();
  }));
}

/// Proves: threat-model.place-memory
TEST(PlaceSessions, HaveAMebibyteEachWay) {
  SessionOptions session;
  TransportOptions transport;
  make_small(session, transport);
  EXPECT_EQ(transport.memory_bytes, kMiB);
}

TEST_F(PlaceTest, TellsAllWhenItStops) {
  start();
  come();
  come();
  EXPECT_TRUE(until([&] { return place_->all_sessions().size() == 2; }));
  bool stopped = false;
  place_->stop({Errc::interrupted, "interrupted", "by a test"}, [&] { stopped = true; });
  EXPECT_FALSE(stopped);
  EXPECT_TRUE(until([&] { return stopped; }));
}

}  // namespace
}  // namespace udtcat::meet
