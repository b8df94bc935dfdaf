// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/joining_flows.hpp"

#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>

#include "support/memory_channel.hpp"
#include "support/run_until.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using session::Join;
using session::Joined;
using session::Role;

/// `name` makes the session's id and its key.
std::unique_ptr<session::Session> make_awaiting(boost::asio::io_context& io, session::Role role,
                                                std::unique_ptr<transport::Channel> first, std::size_t flows,
                                                std::uint8_t name = 1) {
  session::NegotiatedParameters agreed;
  agreed.protection = Protection::auth;
  agreed.flows = flows;
  agreed.session_id.fill(std::byte{name});
  crypto::Secret32 key;
  key.writable()[0] = std::byte{name};
  auto made = std::make_unique<session::Session>(io, role, agreed, std::nullopt, std::move(first));
  made->await_flows(session::JoinKey(std::move(key), agreed.session_id));
  return made;
}

/// Every connect succeeds after `failures` that do not, and gives a path in memory.
class FakeEngine final : public transport::Engine {
 public:
  explicit FakeEngine(boost::asio::io_context& io) : io_(io) {}
  void async_connect(const Endpoint&, core::SharedBytes first_words, std::chrono::milliseconds,
                     transport::ChannelHandler handler) override {
    most_at_once = std::max(most_at_once, ++at_once);
    if (failures > 0) {
      --failures;
      return boost::asio::post(io_, [this, handler = std::move(handler)] {
        --at_once;
        handler(fail(Errc::cannot_reach, "connect"));
      });
    }
    test::ChannelPair pair(io_);
    transport::say_first(*pair.connector, first_words);
    far_ends.push_back(std::move(pair.listener));
    pipes.push_back(pair.from_listener);
    auto kept = std::make_shared<std::unique_ptr<transport::Channel>>(std::move(pair.connector));
    boost::asio::post(io_, [this, handler = std::move(handler), kept] {
      --at_once;
      handler(std::move(*kept));
    });
  }
  Result<std::unique_ptr<transport::Acceptor>> listen(const std::vector<Endpoint>&) override {
    return fail(Errc::cannot_bind, "listen");
  }

  int failures = 0;
  std::size_t at_once = 0;
  std::size_t most_at_once = 0;
  std::deque<std::unique_ptr<transport::Channel>> far_ends;
  std::vector<std::shared_ptr<test::MemoryPipe>> pipes;

 private:
  boost::asio::io_context& io_;
};

class FlowDialingTest : public ::testing::Test {
 protected:
  void dial(std::size_t flows) {
    test::ChannelPair pair(io);
    listener = make_awaiting(io, Role::listener, std::move(pair.listener), flows);
    dialing.emplace(io, engine, make_awaiting(io, Role::connector, std::move(pair.connector), flows),
                    [this](Result<std::unique_ptr<session::Session>> made) { result = std::move(made); });
    EXPECT_FALSE(result) << "never from inside";
  }
  /// Answers every join that came, as the listener does.
  void answer_all() {
    run_until([this] {
      for (; answered < engine.far_ends.size(); ++answered) answer(answered);
      return result.has_value();
    });
  }
  void answer(std::size_t i) {
    join_bytes.emplace_back(session::kParameterPrefixBytes + 61);
    auto& bytes = join_bytes.back();
    engine.far_ends[i]->async_read(bytes, [this, i, &bytes](const Status& status) {
      ASSERT_TRUE(status);
      const auto join = session::decode_join(bytes);
      ASSERT_TRUE(join);
      EXPECT_TRUE(listener->join_key()->check(*join));
      say(i, encode(*listener->join_key()->joined(join->flow)));
    });
  }
  void say(std::size_t i, std::vector<std::byte> bytes) {
    engine.far_ends[i]->async_write(core::SharedBytes::adopt(std::move(bytes)), [](const Status&) {});
  }
  template <typename Condition>
  void run_until(Condition condition) {
    ASSERT_TRUE(test::run_until(io, condition));
  }
  void expect_error(Errc code) {
    run_until([this] { return result.has_value(); });
    ASSERT_FALSE(*result);
    EXPECT_EQ(result->error().code, code);
  }

  boost::asio::io_context io;
  FakeEngine engine{io};
  std::unique_ptr<session::Session> listener;
  std::optional<Result<std::unique_ptr<session::Session>>> result;
  std::size_t answered = 0;
  std::deque<std::vector<std::byte>> join_bytes;
  std::optional<FlowDialing> dialing;
};

TEST_F(FlowDialingTest, BringsEveryFlowAFewAtATime) {
  dial(16);
  answer_all();
  ASSERT_TRUE(*result) << result->error().message();
  EXPECT_EQ((**result)->join_key(), nullptr);
  EXPECT_EQ(engine.far_ends.size(), 15U);
  EXPECT_LE(engine.most_at_once, kFlowsDialedAtOnce);
}

TEST_F(FlowDialingTest, TriesAConnectAgain) {
  engine.failures = 3;
  dial(2);
  answer_all();
  EXPECT_TRUE(*result) << result->error().message();
}

TEST_F(FlowDialingTest, GivesUpWhereAJoinIsRefused) {
  dial(3);
  run_until([this] { return engine.far_ends.size() == 2; });
  engine.far_ends.back()->close({});
  expect_error(Errc::connection_broken);
}

TEST_F(FlowDialingTest, BelievesNoAnswerWithoutTheKey) {
  dial(2);
  run_until([this] { return engine.far_ends.size() == 1; });
  say(0, encode(Joined{}));
  expect_error(Errc::authentication_failed);
}

TEST_F(FlowDialingTest, RefusesGarbageForAnAnswer) {
  dial(2);
  run_until([this] { return engine.far_ends.size() == 1; });
  say(0, std::vector<std::byte>(100, std::byte{0x16}));
  expect_error(Errc::protocol_violated);
}

TEST_F(FlowDialingTest, GivesUpAfterATime) {
  engine.failures = 1'000'000;
  dial(2);
  expect_error(Errc::cannot_reach);
}

TEST_F(FlowDialingTest, CanBeDestroyedAtAnyStep) {
  for (int steps = 0; steps < 30; ++steps) {
    dial(6);
    for (int i = 0; i < steps; ++i) io.poll_one();
    dialing.reset();
    test::run_ready(io);
    EXPECT_FALSE(result);
  }
}

class AwaitedSessionsTest : public ::testing::Test {
 protected:
  /// A session of four flows that waits, and the other end's, which knows the key.
  void await(std::uint8_t name = 1) {
    test::ChannelPair pair(io);
    peer = make_awaiting(io, Role::connector, std::move(pair.connector), 4, name);
    added = awaited.add(make_awaiting(io, Role::listener, std::move(pair.listener), 4, name));
  }
  Status join(const Join& join) {
    test::ChannelPair pair(io);
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
  std::vector<std::shared_ptr<test::MemoryPipe>> answers;
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
  test::ChannelPair pair(io);
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
  ASSERT_TRUE(test::run_until(
      io, [this] { return late.has_value(); }, kAwaitedFlowsDeadline + 5s));
  EXPECT_NE(late->message().find("only 2 of 4"), std::string::npos) << late->message();
  expect_refused(*peer->join_key()->join(2));
}

TransportOptions limited(std::uint64_t bits_per_second) {
  TransportOptions options;
  options.rate = BitRate::from_bits_per_second(bits_per_second);
  return options;
}

TEST(RateShare, IsTheWholeOfOneFlow) {
  EXPECT_EQ(share_of_each_flow(limited(400), std::nullopt).rate.bits_per_second(), 400U);
  EXPECT_EQ(share_of_each_flow(limited(400), 1).rate.bits_per_second(), 400U);
}

TEST(RateShare, IsAnEqualPartOfSeveral) { EXPECT_EQ(share_of_each_flow(limited(400), 4).rate.bits_per_second(), 100U); }

TEST(RateShare, OfNoLimitIsNone) { EXPECT_TRUE(share_of_each_flow(limited(0), 4).rate.unlimited()); }

TEST(RateShare, OfALimitIsNeverNone) {
  EXPECT_FALSE(share_of_each_flow(limited(3), 16).rate.unlimited());
  EXPECT_GT(share_of_each_flow(limited(3), 16).rate.bytes_per_second(), 0U);
}

}  // namespace
}  // namespace udtcat::connection
