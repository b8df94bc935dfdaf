// SPDX-License-Identifier: Apache-2.0
/// Streams that ask for a service by its name, and how many there may be.
#include "lib/connection/multiplexer_fixture.hpp"

namespace udtcat::connection {
namespace {

TEST_F(MultiplexerTest, TellsTheHandlerTheServiceOfAStream) {
  options.services = {"", "db"};
  accepts = false;
  connect();
  open("db");
  ASSERT_TRUE(run_until([this] { return listener.connection->service_of(0) == "db"; }));
  open();
  ASSERT_TRUE(run_until([this] { return listener.accepted == 2; }));
  EXPECT_EQ(listener.connection->service_of(2), "");
}

TEST_F(MultiplexerTest, HasNoServiceOfAStreamThatIsAnswered) {
  accepts = false;
  connect();
  open();
  ASSERT_TRUE(run_until([this] { return listener.connection->service_of(0) == ""; }));
  connector.connection->refuse_stream(0, {Errc::stream_refused, "open", "given up"});
  EXPECT_TRUE(run_until([this] { return !listener.connection->service_of(0); }));
  EXPECT_FALSE(listener.connection->service_of(2)) << "nor of one that was never opened";
}

TEST_F(MultiplexerTest, TellsTheHandlerOfAnUnansweredStreamThatIsGivenUp) {
  accepts = false;
  connect();
  std::vector<StreamId> given_up;
  listener.connection->on_stream_given_up([&](StreamId id) { given_up.push_back(id); });
  for (int i = 0; i < 4; ++i) open();
  ASSERT_TRUE(run_until([this] { return listener.accepted == 6; }));
  accept();
  listener.connection->refuse_stream(4, {Errc::stream_refused, "open", "not now"});
  for (StreamId id = 0; id < 8; id += 2)
    connector.connection->refuse_stream(id, {Errc::stream_refused, "open", "given up"});
  ASSERT_TRUE(run_until([this] { return listener.connection->stats().streams_open == 0; }));
  test::run_ready(io);
  EXPECT_EQ(given_up, (std::vector<StreamId>{0, 2}));
}

TEST_F(MultiplexerTest, TellsWhyAStreamEndedBeforeItsHandlerWasCalled) {
  connect();
  open_and_give_up(1);
  ASSERT_TRUE(run_until([this] { return listener.outcome.has_value(); }));
  EXPECT_EQ(listener.outcome->error->code, Errc::stream_refused);
}

TEST_F(MultiplexerTest, CarriesAStreamThatWasSentWholeBeforeItWasAccepted) {
  accepts = false;
  connect();
  connector.script->to_send = "a question";
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(run_until([this] { return listener.connection->stats().blocks_received > 0; }));
  test::run_ready(io);
  accept();
  ASSERT_TRUE(both_ended());
  EXPECT_FALSE(connector.outcome->error);
  EXPECT_EQ(listener.script->received, "a question");
}

TEST_F(MultiplexerTest, KeepsNothingOfUnansweredStreamsThatAreGivenUp) {
  accepts = false;
  connect();
  for (std::size_t told = 1000; told <= 2 * kMaxEndedStreams; told += 1000) {
    open_and_give_up(1000);
    ASSERT_TRUE(run_until([&] { return listener.closed || listener.connection->stats().streams_opened == told; }));
    ASSERT_FALSE(listener.closed) << listener.closed->error().message();
  }
}

TEST_F(MultiplexerTest, CarriesOtherStreamsWhileThousandsComeAndGo) {
  accepts = false;
  connect();
  open_and_give_up(2 * kMaxEndedStreams);
  open();
  ASSERT_TRUE(run_until([&] { return listener.closed || listener.accepted == 4 * kMaxEndedStreams; }));
  ASSERT_FALSE(listener.closed) << listener.closed->error().message();
  accept();
  listener.script->say("hello");
  EXPECT_TRUE(run_until([this] { return connector.script->received == "hello"; }));
}

TEST_F(MultiplexerTest, RefusesStreamsBehindThousandsInOneBlock) {
  block_bytes = kMiB;
  accepts = false;
  connect();
  open_and_give_up(2 * kMaxEndedStreams);
  ASSERT_TRUE(run_until([&] { return listener.closed || listener.connection->stats().streams_open == 0; }));
  EXPECT_LE(listener.connection->stats().streams_opened, kMaxEndedStreams);
  open();
  EXPECT_TRUE(run_until([&] { return listener.closed || listener.accepted == 4 * kMaxEndedStreams; }));
  EXPECT_FALSE(listener.closed) << listener.closed->error().message();
}

TEST_F(MultiplexerTest, RefusesAServiceThatItDoesNotHave) {
  connect();
  open("db");
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  ASSERT_TRUE(connector.outcome->error);
  EXPECT_EQ(connector.outcome->error->code, Errc::stream_refused);
  EXPECT_NE(connector.outcome->error->message().find("no service with a name"), std::string::npos)
      << connector.outcome->error->message();
}

TEST_F(MultiplexerTest, GivesEveryServiceNameToTheHandlerWhereThereAreServices) {
  options.services = {"db"};
  accepts = false;
  connect();
  open("other");
  ASSERT_TRUE(run_until([this] { return listener.connection->service_of(0) == "other"; }));
  open();
  EXPECT_TRUE(run_until([this] { return listener.connection->service_of(2) == ""; }));
}

/// Proves: stream.open-limit
TEST_F(MultiplexerTest, KnowsHowManyStreamsThePeerTakesAndRefusesOneMore) {
  EXPECT_EQ(options.streams, 1024U) << "unless the other end says less";
  options.streams = 2;
  accepts = false;
  connect();
  for (std::size_t left = 2; left > 0; --left) {
    EXPECT_EQ(connector.connection->streams_left(), left);
    open();
  }
  EXPECT_EQ(connector.connection->streams_left(), 0U);
  EXPECT_EQ(listener.connection->streams_left(), 2U) << "each end counts what it opens";
  open();
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  EXPECT_EQ(connector.outcome->error->code, Errc::stream_refused);
  EXPECT_EQ(connector.connection->streams_left(), 0U);
}

TEST_F(MultiplexerTest, HasRoomForAnotherStreamOnceOneHasEnded) {
  options.streams = 1;
  connect();
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(connector.connection->streams_left(), 1U);
  open();
  EXPECT_TRUE(run_until([this] { return listener.accepted == 2; })) << "and the peer thinks so, too";
}

}  // namespace
}  // namespace udtcat::connection
