#include "lib/connection/awaited_sessions.hpp"

#include <chrono>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "lib/connection/several_flows.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using session::Join;
using session::Role;

class AwaitedSessionsTest : public ::testing::Test {
 protected:
  /// A session of four flows that waits, and the other end's, which knows the key.
  void await(std::uint8_t name = 1) {
    fault::ChannelPair pair(io);
    peer = make_awaiting(io, Role::connector, std::move(pair.connector), 4, name);
    added = awaited.add(make_awaiting(io, Role::listener, std::move(pair.listener), 4, name));
  }
  Status join(const Join& join) {
    fault::ChannelPair pair(io);
    answers.push_back(pair.from_listener);
    return awaited.join(join, std::move(pair.listener));
  }
  Status join(std::uint8_t flow) { return join(*peer->join_key()->join(flow)); }
  void expect_refused(const Join& bad) {
    const auto joined = join(bad);
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().code, Errc::authentication_failed);
    EXPECT_TRUE(answers.back()->capture.empty()) << "not a word to a stranger";
  }

  boost::asio::io_context io;
  std::vector<std::unique_ptr<session::Session>> complete;
  std::optional<Error> late;
  AwaitedSessions awaited{io,
                          [this](std::unique_ptr<session::Session> session) { complete.push_back(std::move(session)); },
                          [this](const Endpoint&, const Error& why) { late = why; }};
  std::unique_ptr<session::Session> peer;
  Status added;
  std::vector<std::shared_ptr<fault::Pipe>> answers;
};

TEST_F(AwaitedSessionsTest, AreCompleteWhenEachFlowHasJoined) {
  await();
  ASSERT_TRUE(added);
  for (const std::uint8_t flow : std::array<std::uint8_t, 3>{3, 1, 2}) {
    EXPECT_TRUE(complete.empty());
    ASSERT_TRUE(join(flow));
    const auto answer = session::decode_joined(answers.back()->capture);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(peer->join_key()->check(*answer, flow));
  }
  ASSERT_EQ(complete.size(), 1U);
  EXPECT_EQ(complete[0]->join_key(), nullptr);
}

TEST_F(AwaitedSessionsTest, RefuseAWrongProofAndAreNoneTheWorse) {
  await();
  Join bad = *peer->join_key()->join(1);
  bad.proof[31] ^= std::byte{1};
  expect_refused(bad);
  bad = *peer->join_key()->join(1);
  bad.flow = 2;
  expect_refused(bad);
  for (const std::uint8_t flow : std::array<std::uint8_t, 3>{1, 2, 3}) EXPECT_TRUE(join(flow));
  EXPECT_EQ(complete.size(), 1U);
}

TEST_F(AwaitedSessionsTest, RefuseANameThatNoneOfThemBears) {
  fault::ChannelPair pair(io);
  const auto other = make_awaiting(io, Role::connector, std::move(pair.connector), 4, 2);
  expect_refused(*other->join_key()->join(1));
  await(1);
  expect_refused(*other->join_key()->join(1));
}

TEST_F(AwaitedSessionsTest, TakeEachFlowOnce) {
  await();
  ASSERT_TRUE(join(2));
  expect_refused(*peer->join_key()->join(2));
  ASSERT_TRUE(join(1));
  ASSERT_TRUE(join(3));
  EXPECT_EQ(complete.size(), 1U);
}

TEST_F(AwaitedSessionsTest, TakeNoFlowBeyondThoseAgreedOn) {
  await();
  expect_refused(*peer->join_key()->join(4));
  for (const std::uint8_t flow : std::array<std::uint8_t, 3>{1, 2, 3}) EXPECT_TRUE(join(flow));
  expect_refused(*peer->join_key()->join(1));
}

TEST_F(AwaitedSessionsTest, AreKeptApartByTheirNames) {
  await(1);
  const auto first = std::move(peer);
  await(2);
  for (const std::uint8_t flow : std::array<std::uint8_t, 3>{1, 2, 3}) ASSERT_TRUE(join(flow));
  ASSERT_EQ(complete.size(), 1U);
  EXPECT_EQ(complete[0]->agreed().session_id, peer->agreed().session_id);
  EXPECT_TRUE(join(*first->join_key()->join(1)));
}

TEST_F(AwaitedSessionsTest, AreBounded) {
  for (std::uint8_t name = 0; name < kMaxAwaitedSessions; ++name) {
    await(name);
    ASSERT_TRUE(added);
  }
  await(200);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::out_of_resources);
  awaited.clear();
  await(201);
  EXPECT_TRUE(added);
}

TEST_F(AwaitedSessionsTest, WaitOnlySoLong) {
  await();
  ASSERT_TRUE(join(1));
  const auto deadline = std::chrono::steady_clock::now() + kAwaitedFlowsDeadline + 5s;
  while (!late && std::chrono::steady_clock::now() < deadline) io.run_one_for(100ms);
  ASSERT_TRUE(late);
  EXPECT_NE(late->message().find("only 2 of 4"), std::string::npos) << late->message();
  expect_refused(*peer->join_key()->join(2));
}

}  // namespace
}  // namespace udtcat::connection
