// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/multiplexer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "lib/connection/multiplexer_fixture.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using test::Script;
using test::ScriptedStream;

std::string text_of_size(std::size_t bytes) { return test::text_of(test::numbered_bytes(bytes)); }

TEST_P(MultiplexerTest, CarriesBothDirectionsAndEndsWithReceipts) {
  connect(GetParam());
  connector.script->to_send = text_of_size(3'000'001);
  connector.script->source_ended = true;
  listener.script->to_send = "answer";
  listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_FALSE(connector.outcome->error);
  EXPECT_FALSE(listener.outcome->error);
  EXPECT_EQ(connector.outcome->bytes_receipted, 3'000'001U);
  EXPECT_EQ(listener.script->received, text_of_size(3'000'001));
  EXPECT_EQ(connector.script->received, "answer");
  EXPECT_TRUE(listener.script->finished);
}

INSTANTIATE_TEST_SUITE_P(EachProtection, MultiplexerTest,
                         ::testing::Values(Protection::private_, Protection::safe, Protection::auth, Protection::clear),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST_F(MultiplexerTest, CarriesAStreamOfNoBytes) {
  connect();
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_FALSE(connector.outcome->error);
  EXPECT_TRUE(listener.script->finished);
  EXPECT_EQ(listener.script->received, "");
}

TEST_F(MultiplexerTest, WorksWithoutThreadsAndWithOneLane) {
  connect(Protection::private_, 1, 0);
  connector.script->to_send = text_of_size(500'000);
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(listener.script->received, text_of_size(500'000));
}

TEST_P(MultiplexerTest, CarriesAStreamOverSeveralFlows) {
  connect(GetParam(), 4, 2, 3);
  connector.script->to_send = text_of_size(3'000'001);
  connector.script->source_ended = true;
  listener.script->to_send = "answer";
  listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_FALSE(connector.outcome->error);
  EXPECT_FALSE(listener.outcome->error);
  EXPECT_EQ(listener.script->received, text_of_size(3'000'001));
  connector.connection->close();
  ASSERT_TRUE(run_until([this] { return connector.closed && listener.closed; }));
  EXPECT_TRUE(*connector.closed) << connector.closed->error().message();
  EXPECT_TRUE(*listener.closed) << listener.closed->error().message();
}

TEST_F(MultiplexerTest, EndsAsBrokenWhenOneOfItsFlowsDies) {
  connect(Protection::private_, 4, 2, 3);
  connector.script->to_send = text_of_size(6'000'000);
  open();
  ASSERT_TRUE(run_until([this] { return listener.script->received.size() > 1'000'000; }));
  more_from_connector[0]->bytes.clear();
  more_from_connector[0]->black_hole = true;
  more_from_connector[0]->cut = true;
  more_from_connector[0]->wake_reader();
  ASSERT_TRUE(run_until([this] { return listener.closed.has_value(); }));
  ASSERT_TRUE(listener.outcome && listener.outcome->error);
  EXPECT_EQ(listener.closed->error().code, Errc::connection_broken);
}

/// Proves: stream.sends-without-waiting
TEST_F(MultiplexerTest, SendsAShortLineAtOnceWhileTheSourceStaysOpen) {
  connect();
  open();
  connector.script->say("ls\n");
  EXPECT_TRUE(run_until([this] { return listener.script->received == "ls\n"; }));
  listener.script->say("README.md\n");
  EXPECT_TRUE(run_until([this] { return connector.script->received == "README.md\n"; }));
  EXPECT_FALSE(connector.outcome);
}

TEST_F(MultiplexerTest, OpensAStreamAndSendsAShortMessageByPriorityDatagram) {
  connect();
  from_connector->datagram_room_bytes = 1200;
  const auto held_up = std::exchange(from_connector->wake_reader, nullptr);
  connector.script->say("a question");
  open();
  ASSERT_TRUE(run_until([this] { return listener.script->received == "a question"; }));
  from_connector->wake_reader = held_up;
  connector.script->say(" and another");
  connector.script->end_source();
  listener.script->end_source();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(listener.script->received, "a question and another") << "each once";
  EXPECT_FALSE(listener.outcome->error) << "nor is its OPEN a second one";
}

TEST_F(MultiplexerTest, IgnoresForgedPriorityDatagrams) {
  connect();
  open();
  ASSERT_TRUE(run_until([this] { return listener.script->wake != nullptr; }));
  from_connector->carry_datagram(std::vector<std::byte>(100));
  connector.script->say("true");
  EXPECT_TRUE(run_until([this] { return listener.script->received == "true"; }));
}

TEST_F(MultiplexerTest, EndsOneDirectionWhileTheOtherGoesOn) {
  connect();
  open();
  connector.script->end_source();
  ASSERT_TRUE(run_until([this] { return listener.script->finished; }));
  EXPECT_FALSE(connector.outcome);
  listener.script->say("still talking");
  ASSERT_TRUE(run_until([this] { return connector.script->received == "still talking"; }));
  listener.script->end_source();
  EXPECT_TRUE(both_ended());
}

TEST_F(MultiplexerTest, GivesNoReceiptBeforeTheConsumerHasTakenTheLastByte) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = "precious";
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(run_until([this] { return connector.script->finished; })) << "the other direction has ended";
  EXPECT_FALSE(connector.outcome);
  listener.script->stall(false);
  ASSERT_TRUE(both_ended());
  EXPECT_FALSE(connector.outcome->error);
}

TEST_F(MultiplexerTest, StopsTakingFromTheSourceWhenTheConsumerStalls) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = text_of_size(4'000'000);
  open();
  ASSERT_TRUE(run_until([this] { return connector.connection->stats().bytes_sent == session::kInitialWindowBytes; }));
  listener.script->stall(false);
  EXPECT_TRUE(run_until([this] { return listener.script->received.size() == 4'000'000; }));
}

TEST_F(MultiplexerTest, AStalledStreamStallsNoOther) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = text_of_size(4'000'000);
  open();
  ASSERT_TRUE(run_until([this] { return connector.connection->stats().bytes_sent == session::kInitialWindowBytes; }));
  ASSERT_TRUE(run_until([this] { return listener.script->wake != nullptr; })) << "accepted";

  listener.script = std::make_shared<Script>();
  connector.script = std::make_shared<Script>();
  connector.script->to_send = text_of_size(1'000'000);
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(listener.script->received.size(), 1'000'000U);
}

TEST_F(MultiplexerTest, TellsBothEndsWhoseWriteFailed) {
  connect();
  listener.script->write_error = std::make_error_code(std::errc::no_space_on_device);
  connector.script->to_send = "more than the disk holds";
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(listener.outcome->error->code, Errc::local_write_failed);
  EXPECT_EQ(connector.outcome->error->code, Errc::remote_write_failed);
  EXPECT_NE(connector.outcome->error->message().find("No space left on device"), std::string::npos);
  EXPECT_TRUE(connector.script->aborted);
}

TEST_F(MultiplexerTest, CountsAFailureToCloseTheFileAsAFailedWrite) {
  connect();
  listener.script->finish_error = std::make_error_code(std::errc::io_error);
  connector.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(connector.outcome->error->code, Errc::remote_write_failed);
}

TEST_F(MultiplexerTest, TellsBothEndsWhoseReadFailed) {
  connect();
  connector.script->read_error = std::make_error_code(std::errc::io_error);
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(connector.outcome->error->code, Errc::local_read_failed);
  EXPECT_EQ(listener.outcome->error->code, Errc::remote_read_failed);
}

TEST_F(MultiplexerTest, RefusesAStreamWithTheReason) {
  connect();
  accepts = false;
  open();
  ASSERT_TRUE(run_until([this] { return listener.connection->stats().streams_opened == 1; }));
  EXPECT_EQ(listener.connection->stats().streams_open, 1U);
  listener.connection->refuse_stream(0, {Errc::local_connect_failed, "connect tcp db:5432", "Connection refused"});
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  EXPECT_EQ(connector.outcome->error->code, Errc::remote_connect_failed);
  EXPECT_NE(connector.outcome->error->message().find("db:5432"), std::string::npos);
  EXPECT_EQ(connector.connection->stats().streams_open, 0U);
}

/// Proves: stream.open-limit
TEST_F(MultiplexerTest, RefusesASecondStreamWhereItTakesOneAndGoesOnWithTheFirst) {
  options.one_stream = true;
  connect();
  open();
  connector.script->say("first");
  ASSERT_TRUE(run_until([this] { return listener.script->received == "first"; }));
  std::optional<StreamOutcome> second;
  connector.connection->open_stream(std::make_unique<ScriptedStream>(io, std::make_shared<Script>()),
                                    [&](const StreamOutcome& outcome) { second = outcome; });
  ASSERT_TRUE(run_until([&] { return second || listener.accepted != 0; }));
  ASSERT_TRUE(second && second->error);
  EXPECT_EQ(second->error->code, Errc::stream_refused);
  EXPECT_NE(second->error->message().find("too many are open"), std::string::npos) << second->error->message();
  connector.script->say(" and last");
  connector.script->end_source();
  listener.script->end_source();
  ASSERT_TRUE(both_ended());
  EXPECT_FALSE(connector.outcome->error);
  EXPECT_EQ(listener.script->received, "first and last");
}

TEST_F(MultiplexerTest, KeepsDataThatArriveBeforeTheStreamIsAccepted) {
  connect();
  accepts = false;
  connector.script->to_send = "early";
  open();
  ASSERT_TRUE(run_until([this] { return listener.connection->stats().blocks_received > 0; }));
  accept();
  EXPECT_TRUE(run_until([this] { return listener.script->received == "early"; }));
}

TEST_F(MultiplexerTest, AFlippedBitReleasesNothingAndIsReportedAtBothEnds) {
  connect();
  open();
  connector.script->say("good");
  ASSERT_TRUE(run_until([this] { return listener.script->received == "good"; }));
  from_connector->tamper = [](std::span<std::byte> record) { record[record.size() / 2] ^= std::byte{1}; };
  connector.script->say("evil");
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(listener.outcome->error->code, Errc::tampered);
  EXPECT_EQ(connector.outcome->error->code, Errc::peer_reports_tampering);
  EXPECT_EQ(listener.script->received, "good");
}

TEST_F(MultiplexerTest, AnyFlippedBitOfAHeaderIsSeenAtOnce) {
  for (std::size_t bit = 0; bit < 8 * session::kRecordHeaderBytes; ++bit) {
    path = test::ChannelPair(io);
    connector = End{};
    listener = End{};
    connect();
    from_connector->tamper = [bit](std::span<std::byte> record) {
      record[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    };
    connector.script->to_send = "x";
    open();
    ASSERT_TRUE(run_until([this] { return listener.closed.has_value(); })) << bit;
    EXPECT_EQ(listener.closed->error().code, Errc::tampered) << bit;
  }
}

TEST_F(MultiplexerTest, AReplayedRecordIsTampering) {
  connect();
  open();
  connector.script->say("pay 5");
  ASSERT_TRUE(run_until([this] { return listener.script->received == "pay 5"; }));
  from_connector->bytes.insert(from_connector->bytes.end(), from_connector->capture.begin(),
                               from_connector->capture.end());
  from_connector->wake_reader();
  ASSERT_TRUE(run_until([this] { return listener.closed.has_value(); }));
  EXPECT_EQ(listener.closed->error().code, Errc::tampered);
  EXPECT_EQ(listener.script->received, "pay 5");
}

/// Proves: stream.transport-end, threat-model.forged-packet
TEST_F(MultiplexerTest, TheEndOfTheTransportIsNotTheEndOfAStream) {
  connect();
  open();
  connector.script->say("first half");
  ASSERT_TRUE(run_until([this] { return listener.script->received == "first half"; }));
  from_connector->cut = true;
  from_connector->wake_reader();
  ASSERT_TRUE(run_until([this] { return listener.outcome.has_value(); }));
  EXPECT_EQ(listener.outcome->error->code, Errc::connection_broken);
  EXPECT_FALSE(listener.script->finished);
}

TEST_F(MultiplexerTest, LosesASilentPeerAfterTheIdleTimeout) {
  connect();
  open();
  connector.script->say("hello");
  ASSERT_TRUE(run_until([this] { return listener.script->received == "hello"; }));
  from_connector->black_hole = from_listener->black_hole = true;
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(connector.outcome->error->code, Errc::peer_lost);
  EXPECT_EQ(listener.outcome->error->code, Errc::peer_lost);
}

TEST_F(MultiplexerTest, EndsThoughThePathDiesDuringTheCloseHandshake) {
  connect();
  open();
  connector.script->say("hello");
  ASSERT_TRUE(run_until([this] { return listener.script->received == "hello"; }));
  from_connector->black_hole = from_listener->black_hole = true;
  from_connector->stuck = true;
  connector.script->say("more");
  connector.connection->abort({Errc::interrupted, "interrupted", "by a test"});
  ASSERT_TRUE(run_until([this] { return connector.closed.has_value(); }));
  EXPECT_EQ(connector.closed->error().code, Errc::interrupted);
}

TEST_F(MultiplexerTest, EndsAStreamThatIsAcceptedTooLate) {
  connect();
  accepts = false;
  connector.script->read_error = std::make_error_code(std::errc::io_error);
  open();
  ASSERT_TRUE(run_until([this] { return listener.connection->stats().streams_opened == 1; }));
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  connector.connection->close();
  ASSERT_TRUE(run_until([this] { return connector.closed.has_value(); }));
  accept();
  ASSERT_TRUE(run_until([this] { return listener.outcome.has_value(); }));
  EXPECT_EQ(listener.outcome->error->code, Errc::peer_interrupted);
  EXPECT_TRUE(listener.script->aborted);
}

TEST_F(MultiplexerTest, StaysUpWhileIdle) {
  connect();
  open();
  const auto past_the_idle_timeout = std::chrono::steady_clock::now() + 4s;
  ASSERT_TRUE(run_until([=] { return std::chrono::steady_clock::now() > past_the_idle_timeout; }));
  EXPECT_FALSE(connector.outcome);
  EXPECT_FALSE(connector.closed);
}

TEST_F(MultiplexerTest, TellsTheHandlerOnceOfEachSilenceOfThePeer) {
  options.idle_timeout = 20s;
  connect();
  int told = 0;
  connector.connection->on_quiet([&] { ++told; });
  open();
  const auto hear = std::exchange(from_listener->wake_reader, [] {});
  ASSERT_TRUE(run_until([&] { return told == 1; }));
  EXPECT_FALSE(connector.connection->answers());
  from_listener->wake_reader = hear;
  hear();
  ASSERT_TRUE(run_until([&] { return connector.connection->answers(); }));
  test::run_for(io, 500ms);  // a tick or two
  EXPECT_EQ(told, 1);
}

TEST_F(MultiplexerTest, SaysHowLongThePeerWasSilentWhereTheChannelBreaks) {
  options.idle_timeout = 20s;
  connect();
  open();
  const auto hear = std::exchange(from_listener->wake_reader, [] {});
  ASSERT_TRUE(run_until([&] { return !connector.connection->answers(); }));
  from_listener->bytes.clear();
  from_listener->cut = true;
  from_listener->wake_reader = hear;
  hear();
  ASSERT_TRUE(run_until([this] { return connector.closed.has_value(); }));
  EXPECT_NE(connector.closed->error().message().find("nothing has come in answer for "), std::string::npos)
      << connector.closed->error().message();
}

TEST_F(MultiplexerTest, SendsHeldDataAtOnceWhenALongSilenceEnds) {
  options.idle_timeout = 20s;
  connect(Protection::private_, 1, 0);
  const auto hear = std::exchange(from_listener->wake_reader, [] {});
  connector.script->to_send = "hello";
  listener.script->source_ended = true;
  open();
  ASSERT_TRUE(run_until([this] { return listener.script->received == "hello"; }));
  const auto quiet_from = std::chrono::steady_clock::now() + kQuietAfter;
  ASSERT_TRUE(run_until([=] { return std::chrono::steady_clock::now() > quiet_from; }));
  connector.script->say(", are you there?");
  test::run_ready(io);
  EXPECT_EQ(listener.script->received, "hello") << "the peer owes an answer";
  from_listener->wake_reader = hear;
  hear();
  test::run_ready(io);  // the next tick, which would let it go too, is a quarter of a second away
  EXPECT_EQ(listener.script->received, "hello, are you there?");
}

TEST_F(MultiplexerTest, ClosesWithACloseOfEachEnd) {
  connect();
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  connector.connection->close();
  ASSERT_TRUE(run_until([this] { return connector.closed && listener.closed; }));
  EXPECT_TRUE(*connector.closed);
  EXPECT_TRUE(*listener.closed);
}

TEST_F(MultiplexerTest, DrainsAfterBothClosesOnlyWhereItHasLostPackets) {
  connect();
  from_connector->packets_lost = 1;
  connector.connection->close();
  ASSERT_TRUE(run_until([this] { return connector.closed && listener.closed; }));
  EXPECT_TRUE(*connector.closed);
  EXPECT_TRUE(*listener.closed);
  EXPECT_EQ(from_connector->drain, kBreakOffDrain);
  EXPECT_EQ(from_listener->drain, 0s) << "it has lost none";
}

TEST_F(MultiplexerTest, EndsWellWhereTheChannelBreaksAfterAllReceipts) {
  connect();
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  from_listener->black_hole = true;
  connector.connection->close();
  ASSERT_TRUE(run_until([this] { return listener.closed.has_value(); }));
  from_listener->cut = true;
  from_listener->wake_reader();
  ASSERT_TRUE(run_until([this] { return connector.closed.has_value(); }));
  EXPECT_TRUE(*connector.closed);
}

TEST_F(MultiplexerTest, AnAbortIsAnInterruptionToThePeer) {
  connect();
  connector.script->to_send = text_of_size(1'000'000);
  open();
  connector.connection->abort({Errc::interrupted, "interrupted", "by a signal"});
  ASSERT_TRUE(run_until([this] { return connector.closed && listener.closed; }));
  EXPECT_EQ(connector.closed->error().code, Errc::interrupted);
  EXPECT_EQ(listener.closed->error().code, Errc::peer_interrupted);
}

TEST_F(MultiplexerTest, MayBeDestroyedInItsOwnOnClosed) {
  for (const bool in_order : {true, false}) {
    path = test::ChannelPair(io);
    connector = {};
    listener = {};
    connect();
    listener.connection->on_closed([this](const Status& status) {
      listener.connection.reset();
      listener.closed = status;  // what was given to the handler, and what it holds, is still there
    });
    in_order ? connector.connection->close() : connector.connection->abort({Errc::interrupted, "test", ""});
    ASSERT_TRUE(run_until([this] { return connector.closed && listener.closed; }));
    EXPECT_EQ(listener.closed->has_value(), in_order);
    EXPECT_EQ(connector.closed->has_value(), in_order);
  }
}

TEST_F(MultiplexerTest, CarriesManyStreamsAtOnce) {
  connect();
  constexpr std::size_t kStreams = 200;
  std::vector<std::shared_ptr<Script>> there(kStreams);
  std::vector<std::shared_ptr<Script>> here(kStreams);
  std::size_t ended = 0;
  listener.connection->on_stream([&](StreamId id) {
    auto& script = there[id / 2] = std::make_shared<Script>();
    script->source_ended = true;
    listener.connection->accept_stream(id, std::make_unique<ScriptedStream>(io, script), [](const StreamOutcome&) {});
  });
  for (std::size_t i = 0; i < kStreams; ++i) {
    here[i] = std::make_shared<Script>();
    here[i]->to_send = text_of_size(5000 + i);
    here[i]->source_ended = true;
    connector.connection->open_stream(std::make_unique<ScriptedStream>(io, here[i]), [&](const StreamOutcome& outcome) {
      EXPECT_FALSE(outcome.error);
      ++ended;
    });
  }
  ASSERT_TRUE(run_until([&] { return ended == kStreams; }));
  for (std::size_t i = 0; i < kStreams; ++i) EXPECT_EQ(there[i]->received, text_of_size(5000 + i)) << i;
}

}  // namespace
}  // namespace udtcat::connection
