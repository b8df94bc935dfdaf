// SPDX-License-Identifier: Apache-2.0
#include "lib/plain/pipe.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/memory_channel.hpp"
#include "support/run_until.hpp"
#include "support/scripted_stream.hpp"

namespace udtcat::plain {
namespace {

using namespace std::chrono_literals;
using test::Script;

/// A pipe at one end of a channel; the test is the program at the other, which knows nothing of udtcat.
class PlainPipeTest : public ::testing::Test {
 protected:
  void start(bool receives = true) {
    pipe = std::make_unique<Pipe>(io, std::move(channels.connector), nullptr);
    pipe->bridge(std::make_unique<test::ScriptedStream>(io, script), receives,
                 [this](StreamOutcome how) { outcome = std::move(how); });
  }
  void run_for(std::chrono::milliseconds time) {
    io.restart();
    io.run_for(time);
  }
  bool run_until(const std::function<bool()>& done) { return test::run_until(io, done); }
  bool run_until_done() {
    return run_until([this] { return outcome.has_value(); });
  }
  void peer_says(const std::string& text) {
    channels.listener->async_write(core::SharedBytes::adopt(test::bytes_of(text)), [](const Status&) {});
  }
  void peer_closes() { channels.listener->close(1s); }
  [[nodiscard]] std::string peer_heard() const { return test::text_of(channels.from_connector->capture); }
  [[nodiscard]] bool closed() const { return channels.from_connector->closed; }
  [[nodiscard]] Errc error() const { return outcome->error ? outcome->error->code : Errc{}; }

  boost::asio::io_context io;
  test::ChannelPair channels{io};
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<Pipe> pipe;
  std::optional<StreamOutcome> outcome;
};

TEST_F(PlainPipeTest, SendsBareBytesAndClosesBehindThem) {
  start();
  script->say("hello");
  script->end_source();
  ASSERT_TRUE(run_until_done());
  EXPECT_FALSE(outcome->error);
  EXPECT_EQ(peer_heard(), "hello");
  EXPECT_TRUE(closed());
  EXPECT_EQ(outcome->bytes_sent, 5U);
  EXPECT_TRUE(script->finished);
}

TEST_F(PlainPipeTest, SendsAllOfALongSource) {
  script->to_send = std::string(3 * kPieceBytes + 17, 'x');
  script->source_ended = true;
  start();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(peer_heard().size(), 3 * kPieceBytes + 17);
}

TEST_F(PlainPipeTest, IsNotDoneBeforeAllIsAcknowledged) {
  script->to_send = "hello";
  script->source_ended = true;
  channels.from_connector->stuck = true;
  start();
  run_for(200ms);
  EXPECT_FALSE(outcome);
  EXPECT_FALSE(closed());
  channels.from_connector->stuck = false;
  channels.from_connector->wake_writer();
  ASSERT_TRUE(run_until_done());
  EXPECT_FALSE(outcome->error);
}

TEST_F(PlainPipeTest, TakesNoMoreFromTheSourceThanTheChannelTakes) {
  script->to_send = std::string(3 * kMaxWrites * kPieceBytes, 'x');
  channels.from_connector->stuck = true;
  start();
  ASSERT_TRUE(run_until([this] { return peer_heard().size() >= kMaxWrites * kPieceBytes; }));
  run_for(20ms);
  EXPECT_EQ(peer_heard().size(), kMaxWrites * kPieceBytes);
}

TEST_F(PlainPipeTest, WritesWhatComesAndEndsWithThePeer) {
  start();
  script->end_source();
  run_for(200ms);
  EXPECT_FALSE(outcome) << "an empty source is no reason to leave";
  EXPECT_FALSE(closed());
  peer_says("how are you");
  peer_closes();
  ASSERT_TRUE(run_until_done());
  EXPECT_FALSE(outcome->error);
  EXPECT_EQ(script->received, "how are you");
  EXPECT_EQ(outcome->bytes_received, 11U);
  EXPECT_TRUE(script->finished);
}

TEST_F(PlainPipeTest, EndsWithThePeerThoughItsSourceHasNot) {
  start();
  script->say("question");
  peer_says("answer");
  ASSERT_TRUE(run_until([this] { return peer_heard() == "question" && script->received == "answer"; }));
  peer_closes();
  ASSERT_TRUE(run_until_done());
  EXPECT_FALSE(outcome->error);
  EXPECT_EQ(script->received, "answer");
}

TEST_F(PlainPipeTest, ThatOnlySendsClosesBehindAnEmptySource) {
  start(false);
  script->end_source();
  ASSERT_TRUE(run_until_done());
  EXPECT_FALSE(outcome->error);
  EXPECT_TRUE(closed());
}

TEST_F(PlainPipeTest, ThatOnlySendsDropsWhatComes) {
  start(false);
  peer_says("unasked");
  EXPECT_TRUE(run_until([this] { return channels.from_listener->bytes.empty(); })) << "or the peer would be held up";
  script->end_source();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(script->received, "");
  EXPECT_EQ(outcome->bytes_received, 0U);
}

TEST_F(PlainPipeTest, ThatOnlySendsHasNotSentAllWhenThePeerClosesFirst) {
  start(false);
  script->say("some");
  ASSERT_TRUE(run_until([this] { return peer_heard() == "some"; }));
  peer_closes();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::connection_broken);
  EXPECT_NE(outcome->error->message().find("it closed before"), std::string::npos) << outcome->error->message();
}

TEST_F(PlainPipeTest, SaysThatThePeerClosedBeforeItHadAll) {
  script->to_send = "hello";
  script->source_ended = true;
  channels.from_connector->stuck = true;
  start();
  ASSERT_TRUE(run_until([this] { return peer_heard() == "hello"; }));
  peer_closes();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::connection_broken);
  EXPECT_NE(outcome->error->message().find("it closed before"), std::string::npos) << outcome->error->message();
}

TEST_F(PlainPipeTest, ReadsThePeersBytesAfterItsOwnEnd) {
  peer_says("hi");
  script->to_send = "hello";
  script->source_ended = true;
  start();
  ASSERT_TRUE(run_until_done());
  EXPECT_FALSE(outcome->error);
  EXPECT_EQ(script->received, "hi");
}

TEST_F(PlainPipeTest, BoundsTheTimeForAPeerThatGoesOn) {
  script->to_send = "hello";
  script->source_ended = true;
  start();
  const auto begin = std::chrono::steady_clock::now();
  while (!outcome && std::chrono::steady_clock::now() - begin < 10s) {
    peer_says("and ");
    run_for(10ms);
  }
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kMaxPeerDrain + 2s);
}

TEST_F(PlainPipeTest, HoldsThePeerUpWhileItsConsumerStalls) {
  script->consumer_stalled = true;
  start();
  constexpr std::size_t kHeld = kMaxArrivedPieces * kPieceBytes;
  peer_says(std::string(2 * kHeld, 'z'));
  ASSERT_TRUE(run_until([this] { return channels.from_listener->bytes.size() <= kHeld; }));
  run_for(20ms);
  EXPECT_EQ(channels.from_listener->bytes.size(), kHeld);
  script->stall(false);
  peer_closes();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(script->received.size(), 2 * kHeld);
}

TEST_F(PlainPipeTest, TellsABreakFromAClose) {
  start();
  peer_says("half of");
  ASSERT_TRUE(run_until([this] { return script->received == "half of"; }));
  channels.from_listener->cut = true;
  channels.from_listener->wake_reader();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::connection_broken);
  EXPECT_EQ(script->received, "half of") << "what came is the user's";
  EXPECT_TRUE(script->aborted);
  EXPECT_FALSE(script->finished);
}

TEST_F(PlainPipeTest, NoticesAPeerWhosePortIsClosed) {
  channels.connector->port_closed = std::chrono::steady_clock::now();
  start();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::peer_lost);
}

TEST_F(PlainPipeTest, NamesTheLocalSideThatFails) {
  script->write_error = std::make_error_code(std::errc::no_space_on_device);
  start();
  peer_says("hello");
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::local_write_failed);
  EXPECT_TRUE(closed());
}

TEST_F(PlainPipeTest, NamesTheLocalSourceThatFails) {
  script->read_error = std::make_error_code(std::errc::io_error);
  start();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::local_read_failed);
  EXPECT_TRUE(closed());
}

TEST_F(PlainPipeTest, FailsWhenTheConsumerCannotFinish) {
  script->finish_error = std::make_error_code(std::errc::no_space_on_device);
  start();
  peer_closes();
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::local_write_failed);
}

TEST_F(PlainPipeTest, EndsAtOnceWhenAborted) {
  start();
  run_for(5ms);
  pipe->abort({Errc::interrupted, "interrupted", "by a test"});
  EXPECT_FALSE(outcome) << "not from inside the call";
  ASSERT_TRUE(run_until_done());
  EXPECT_EQ(error(), Errc::interrupted);
  EXPECT_TRUE(closed());
}

TEST_F(PlainPipeTest, CallsNoHandlerAfterDestruction) {
  start();
  run_for(5ms);
  pipe.reset();
  peer_says("anybody there?");
  run_for(50ms);
  EXPECT_FALSE(outcome);
}

TEST_F(PlainPipeTest, WorksWithAnotherPlainPipe) {
  auto far_script = std::make_shared<Script>();
  Pipe far(io, std::move(channels.listener), nullptr);
  std::optional<StreamOutcome> far_outcome;
  far_script->source_ended = true;
  far.bridge(std::make_unique<test::ScriptedStream>(io, far_script), true,
             [&](StreamOutcome how) { far_outcome = std::move(how); });
  script->to_send = std::string(kPieceBytes + 1, 'x');
  script->source_ended = true;
  start();
  ASSERT_TRUE(run_until([&] { return outcome && far_outcome; }));
  EXPECT_FALSE(outcome->error || far_outcome->error);
  EXPECT_EQ(far_script->received.size(), kPieceBytes + 1);
}

}  // namespace
}  // namespace udtcat::plain
