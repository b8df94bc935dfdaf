// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/session_table.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "lib/connection/running_session.hpp"
#include "support/memory_channel.hpp"
#include "support/run_until.hpp"

namespace udtcat::connection {
namespace {

using session::FlowName;
using session::Join;
using session::Role;

class SessionTableTest : public ::testing::Test {
 protected:
  /// A session of four flows, and the other end's, which knows the key.
  struct Pair {
    Pair(SessionTableTest& test, std::uint8_t name) {
      auto pair = acknowledging_pair(test.io);
      connector = running_session(test.io, Role::connector, std::move(pair.connector), 4, name);
      listener = running_session(test.io, Role::listener, std::move(pair.listener), 4, name);
      entry.emplace(test.table, *listener);
    }
    std::unique_ptr<session::Session> connector;
    std::unique_ptr<session::Session> listener;
    std::optional<SessionTable::Entry> entry;
  };
  Status join(const Join& join) {
    auto pair = acknowledging_pair(io);
    answers.push_back(pair.from_listener);
    return table->join(
        join, std::move(pair.listener),
        [this](const session::Session&, const Endpoint&, std::uint64_t) -> Result<std::shared_ptr<void>> {
          ++asked;
          if (!place) return fail(Errc::out_of_resources, "take a flow");
          return place;
        });
  }
  void expect_refused(const Join& bad) {
    const auto joined = join(bad);
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().code, Errc::authentication_failed);
    EXPECT_TRUE(answers.back()->capture.empty()) << "not a word to a stranger";
  }

  boost::asio::io_context io;
  std::shared_ptr<SessionTable> table = std::make_shared<SessionTable>();
  std::vector<std::shared_ptr<test::MemoryPipe>> answers;
  std::shared_ptr<int> place = std::make_shared<int>();  // null: there is no room
  int asked = 0;
};

TEST_F(SessionTableTest, GivesFlowsToTheirSession) {
  Pair one(*this, 1);
  Pair other(*this, 2);
  for (const FlowName name : {FlowName{3, 1}, FlowName{1, 1}, FlowName{2, 5}}) {
    const Join good = *one.connector->join_key()->join(name);
    EXPECT_TRUE(table->takes(encode(good)));
    ASSERT_TRUE(join(good));
    const auto answer = session::decode_joined(answers.back()->capture);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(one.connector->join_key()->check(*answer, name));
  }
  EXPECT_EQ(one.listener->stats().flows, 4U);
  EXPECT_EQ(other.listener->stats().flows, 1U);
}

TEST_F(SessionTableTest, RefusesAWrongProofAndIsNoneTheWorse) {
  Pair one(*this, 1);
  Join bad = *one.connector->join_key()->join({1, 1});
  bad.proof[31] ^= std::byte{1};
  expect_refused(bad);
  bad = *one.connector->join_key()->join({1, 1});
  bad.name.flow = 2;
  expect_refused(bad);
  EXPECT_TRUE(join(*one.connector->join_key()->join({1, 1})));
}

TEST_F(SessionTableTest, RefusesANameThatNoneBears) {
  Pair one(*this, 1);
  expect_refused(*session::JoinKey({}, {}).join({1, 1}));
}

TEST_F(SessionTableTest, TellsAFlowThatComesTooLateFromANameThatNoneBore) {
  std::optional<Pair> one(std::in_place, *this, 1);
  const Join good = *one->connector->join_key()->join({1, 1});
  one->entry.reset();
  EXPECT_FALSE(table->takes(encode(good)));
  const auto joined = join(good);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Errc::peer_lost) << "nobody is refused";
  EXPECT_TRUE(answers.back()->capture.empty());
}

TEST_F(SessionTableTest, RemembersTheLastThatEnded) {
  std::optional<Pair> one(std::in_place, *this, 1);
  const Join good = *one->connector->join_key()->join({1, 1});
  one->entry.reset();
  Pair other(*this, 2);
  for (std::size_t ended = 0; ended < kMaxEndedSessions; ++ended) {
    other.entry.reset();
    other.entry.emplace(table, *other.listener);
  }
  expect_refused(good);
}

TEST_F(SessionTableTest, TakesAnAttemptOnceAndReplacesByTheNext) {
  Pair one(*this, 1);
  const auto key = one.connector->join_key();
  ASSERT_TRUE(join(*key->join({1, 2})));
  expect_refused(*key->join({1, 2}));
  expect_refused(*key->join({1, 1}));
  expect_refused(*key->join({4, 1}));
  ASSERT_TRUE(join(*key->join({1, 3})));
  ASSERT_TRUE(join(*key->join({0, 1}))) << "the handshake's own, too";
  EXPECT_EQ(one.listener->stats().flows, 2U);
}

TEST_F(SessionTableTest, TellsWhenItIsEmpty) {
  int told = 0;
  table->on_empty([&] { ++told; });
  std::optional<Pair> one(std::in_place, *this, 1);
  std::optional<Pair> other(std::in_place, *this, 2);
  one->entry.reset();
  EXPECT_EQ(told, 0);
  other->entry.reset();
  EXPECT_EQ(told, 1);
}

TEST_F(SessionTableTest, AsksForAPlaceForWhatIsProvedAndKeepsItAsLongAsTheChannel) {
  Pair one(*this, 1);
  const auto key = one.connector->join_key();
  Join bad = *key->join({1, 1});
  bad.proof[0] ^= std::byte{1};
  expect_refused(bad);
  EXPECT_EQ(asked, 0);
  ASSERT_TRUE(join(*key->join({1, 1})));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(place.use_count(), 2);
  one.listener->close({});
  one.entry.reset();
  one.listener.reset();
  EXPECT_EQ(place.use_count(), 1);
}

TEST_F(SessionTableTest, LetsOneChannelShareThePlaceOfTheOneItReplaces) {
  Pair one(*this, 1);
  const auto key = one.connector->join_key();
  ASSERT_TRUE(join(*key->join({1, 1})));
  EXPECT_EQ(asked, 1);
  place.reset();
  ASSERT_TRUE(join(*key->join({0, 1}))) << "the session's first";
  ASSERT_TRUE(join(*key->join({1, 2})));
  EXPECT_FALSE(join(*key->join({1, 3}))) << "two share it";
  EXPECT_EQ(asked, 2);
  test::run_ready(io);
  EXPECT_TRUE(join(*key->join({1, 3}))) << "the first one, on which nothing came, is gone";
}

TEST_F(SessionTableTest, RefusesWhatHasNoPlace) {
  Pair one(*this, 1);
  place.reset();
  const auto joined = join(*one.connector->join_key()->join({1, 1}));
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, Errc::out_of_resources);
  EXPECT_TRUE(answers.back()->capture.empty());
  EXPECT_EQ(one.listener->stats().flows, 1U);
}

}  // namespace
}  // namespace udtcat::connection
