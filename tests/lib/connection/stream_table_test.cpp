// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/stream_table.hpp"

#include <gtest/gtest.h>

#include "lib/connection/fake_host.hpp"

namespace udtcat::connection {
namespace {

/// The streams of a connector, whose own numbers are even; four of the peer's at a time.
class StreamTableTest : public testing::Test {
 protected:
  StreamTableTest() { table.take_streams(true); }

  void add(StreamId id, std::optional<std::string> service = std::nullopt) {
    table.add(
        std::make_unique<MuxStream>(id, host, 1000, 1000, budget), [this](const StreamOutcome&) { ++told; },
        std::move(service));
  }
  StreamId open() {
    const StreamId id = table.take_own_id();
    add(id);
    return id;
  }
  void open_peers(StreamId id) {
    ASSERT_TRUE(table.take_peer_id(id));
    add(id, "web");
  }

  FakeHost host;
  WindowBudget budget{1 << 20, WindowBudget::Streams::many};
  int told = 0;
  StreamTable table{0, 4, false};
};

TEST_F(StreamTableTest, NumbersOwnStreamsInTurn) {
  EXPECT_EQ(open(), 0U);
  EXPECT_EQ(open(), 2U);
  EXPECT_EQ(table.own(), 2U);
  EXPECT_TRUE(table.was_opened(2));
  EXPECT_FALSE(table.was_opened(4));
}

TEST_F(StreamTableTest, TakesPeersStreamsInTurnOnly) {
  open_peers(1);
  EXPECT_EQ(table.take_peer_id(5).error().code, Errc::protocol_violated);
  EXPECT_EQ(table.take_peer_id(1).error().code, Errc::protocol_violated);
  EXPECT_TRUE(table.was_opened(1));
  EXPECT_FALSE(table.was_opened(3));
  EXPECT_EQ(table.own(), 0U);
}

TEST_F(StreamTableTest, RefusesMorePeersStreamsThanItMayHave) {
  for (const StreamId id : {1U, 3U, 5U}) open_peers(id);
  EXPECT_FALSE(table.refusal({}));
  open_peers(7);
  EXPECT_EQ(table.refusal({}), "too many are open");
  std::ignore = table.answer(3, nullptr);
  std::ignore = table.end(3, std::nullopt);
  EXPECT_FALSE(table.refusal({}));
}

TEST_F(StreamTableTest, RefusesAServiceWithANameWhereThisEndHasNone) {
  EXPECT_TRUE(table.refusal("web"));
  StreamTable with_services(0, 4, true);
  with_services.take_streams(true);
  EXPECT_FALSE(with_services.refusal("web"));
}

TEST_F(StreamTableTest, RefusesAllWhereThisEndTakesNoStreams) {
  table.take_streams(false);
  EXPECT_EQ(table.refusal({}), "this end takes no streams");
}

TEST_F(StreamTableTest, KeepsAnEndedStreamUntilItIsToldToDestroyIt) {
  const StreamId id = open();
  const auto done = table.end(id, std::nullopt);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find(id), nullptr);
  EXPECT_EQ(table.own(), 0U);
  EXPECT_EQ(table.opened(), 1U);
  done({});
  EXPECT_EQ(told, 1);
  table.destroy_ended();
}

TEST_F(StreamTableTest, HasRoomForABoundedNumberOfEndedStreams) {
  while (table.has_room_for_ended()) std::ignore = table.end(open(), std::nullopt);
  EXPECT_EQ(table.opened(), kMaxEndedStreams);
  EXPECT_EQ(table.refusal({}), "too many have ended just now");
  table.destroy_ended();
  EXPECT_FALSE(table.refusal({}));
}

TEST_F(StreamTableTest, TellsOnceWhyThePeerGaveUpAStreamThatWasNotAnswered) {
  open_peers(1);
  EXPECT_EQ(table.service_of(1), "web");
  std::ignore = table.end(1, Error{Errc::peer_interrupted, "stream 1", "given up"});
  EXPECT_EQ(table.take_given_up(1)->cause, "given up");
  EXPECT_FALSE(table.take_given_up(1));
  std::ignore = table.end(open(), Error{Errc::peer_interrupted, "stream 0", "given up"});
  EXPECT_FALSE(table.take_given_up(0)) << "nobody had to answer it";
}

TEST_F(StreamTableTest, TellsNothingOfAStreamThatWasAnswered) {
  open_peers(1);
  const auto done = [this](const StreamOutcome&) { told += 10; };
  EXPECT_EQ(table.answer(1, done), table.find(1));
  EXPECT_EQ(table.answer(3, done), nullptr);
  EXPECT_FALSE(table.service_of(1));
  table.end(1, Error{Errc::peer_interrupted, "stream 1", "given up"})({});
  EXPECT_EQ(told, 10);
  EXPECT_FALSE(table.take_given_up(1));
}

TEST_F(StreamTableTest, OpensTheNextStreamOfThePeerEarly) {
  EXPECT_FALSE(table.open_early(3)) << "not its turn";
  EXPECT_TRUE(table.open_early(1));
  open_peers(1);
  EXPECT_TRUE(table.take_opened_early(1)) << "its OPEN comes later";
  EXPECT_FALSE(table.take_opened_early(1));
}

}  // namespace
}  // namespace udtcat::connection
