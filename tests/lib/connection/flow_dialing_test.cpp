// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/flow_dialing.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>

#include "lib/connection/running_session.hpp"
#include "support/memory_channel.hpp"
#include "support/run_until.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using session::FlowName;
using session::Join;
using session::Joined;
using session::Role;

/// Every connect succeeds after `failures` that do not, and gives a path in memory.
class FakeEngine final : public transport::Engine {
 public:
  explicit FakeEngine(boost::asio::io_context& io) : io_(io) {}
  void async_connect(const Endpoint&, core::SharedBytes handshake_data, std::chrono::milliseconds,
                     transport::ChannelHandler handler) override {
    ++connects;
    if (failures > 0) {
      --failures;
      return boost::asio::post(io_, [this, handler = std::move(handler)] { handler(fail(failure, "connect")); });
    }
    test::ChannelPair pair = acknowledging_pair(io_);
    transport::write_handshake_data(*pair.connector, handshake_data);
    far_ends.push_back(std::move(pair.listener));
    auto kept = std::make_shared<std::unique_ptr<transport::Channel>>(std::move(pair.connector));
    boost::asio::post(io_, [handler = std::move(handler), kept] { handler(std::move(*kept)); });
  }
  void async_connect_flow(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                          const FlowSettings& settings, transport::ChannelHandler handler) override {
    turns.push_back(settings.turn);
    async_connect(peer, std::move(handshake_data), patience, std::move(handler));
  }
  Result<std::unique_ptr<transport::Acceptor>> listen(const std::vector<Endpoint>&) override {
    return fail(Errc::cannot_bind, "listen");
  }

  int failures = 0;
  Errc failure = Errc::cannot_reach;
  int connects = 0;
  std::vector<std::size_t> turns;  // of the local addresses
  std::deque<std::unique_ptr<transport::Channel>> far_ends;

 private:
  boost::asio::io_context& io_;
};

class FlowDialingTest : public ::testing::Test {
 protected:
  void dial(std::optional<std::size_t> flows, std::size_t agreed = 16, std::size_t addresses = 1) {
    first = acknowledging_pair(io);
    dialing.reset();
    listener = running_session(io, Role::listener, std::move(first.listener), agreed);
    connector = running_session(io, Role::connector, std::move(first.connector), agreed);
    // Each end reads, as a connection does.
    listener->async_read([](const Result<session::Block>&) {});
    connector->async_read([](const Result<session::Block>&) {});
    dialing.emplace(io, engine, *connector,
                    FlowDialing::Settings{.flows = flows, .addresses = addresses, .memory_bytes = 1},
                    [this] { return ends; });
  }
  std::size_t flows() {
    const auto all = connector->flow_progress();
    return static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& flow) { return !flow.broken; }));
  }
  /// Until there are so many; joins that come are answered, as the listener does.
  [[nodiscard]] bool come(std::size_t count, std::chrono::milliseconds most = 10s) {
    return test::run_until(
        io,
        [&] {
          for (; answered < engine.far_ends.size(); ++answered) answer(answered);
          return flows() == count;
        },
        most);
  }
  void answer(std::size_t i) {
    join_bytes.emplace_back(session::kParameterPrefixBytes + 69);
    auto& bytes = join_bytes.back();
    engine.far_ends[i]->async_read(bytes, [this, i, &bytes](const Status& status) {
      ASSERT_TRUE(status);
      const auto join = session::decode_join(bytes);
      ASSERT_TRUE(join);
      EXPECT_TRUE(listener->join_key()->check(*join));
      joins.push_back(join->name);
      say(i, encode(*listener->join_key()->joined(join->name)));
    });
  }
  void say(std::size_t i, std::vector<std::byte> bytes) {
    engine.far_ends[i]->async_write(core::SharedBytes::adopt(std::move(bytes)), [](const Status&) {});
  }
  [[nodiscard]] bool asked(std::size_t times) {
    return test::run_until(
        io, [&] { return engine.far_ends.size() >= times; }, 10s);
  }

  /// While bytes move, until so many attempts were made and those that were not refused have been answered.
  [[nodiscard]] bool dialled(std::size_t attempts, std::chrono::milliseconds most = 10s) {
    return test::run_until(
        io,
        [&] {
          dialing->on_traffic();
          for (; answered < engine.far_ends.size(); ++answered) answer(answered);
          return engine.turns.size() >= attempts && engine.failures == 0 && joins.size() == engine.far_ends.size();
        },
        most);
  }

  boost::asio::io_context io;
  FakeEngine engine{io};
  test::ChannelPair first{io};
  BothEndsStats ends;
  std::unique_ptr<session::Session> listener;
  std::unique_ptr<session::Session> connector;
  std::size_t answered = 0;
  std::deque<std::vector<std::byte>> join_bytes;
  std::vector<FlowName> joins;
  std::optional<FlowDialing> dialing;
};

TEST_F(FlowDialingTest, BringsAsManyAsTheUserWants) {
  dial(16);
  EXPECT_TRUE(come(16));
  EXPECT_EQ(engine.far_ends.size(), 15U);
}

TEST_F(FlowDialingTest, BringsNoMoreThanWereAgreedOn) {
  dial(16, 3);
  EXPECT_TRUE(come(3));
  test::run_for(io, 100ms);
  EXPECT_EQ(engine.far_ends.size(), 2U);
}

TEST_F(FlowDialingTest, BringsNoneWhereTheUserNamesNoNumberAndOneIsEnough) {
  dial(std::nullopt);
  for (int i = 0; i < 10; ++i) {
    dialing->on_traffic();
    test::run_for(io, 50ms);
  }
  EXPECT_EQ(engine.connects, 0);
}

TEST_F(FlowDialingTest, BringsTheLeastWhereTheUserNamesNoNumber) {
  dial(std::nullopt, 16, 3);
  EXPECT_TRUE(come(3));
  EXPECT_EQ(engine.turns, (std::vector<std::size_t>{1, 2})) << "each leaves from an address of its own";
  dial(std::nullopt, 2, 3);
  EXPECT_TRUE(come(2)) << "no more than are agreed on";
}

TEST_F(FlowDialingTest, LeavesFromAnotherAddressByEachAttempt) {
  engine.failures = 2;
  dial(2);
  EXPECT_TRUE(come(2));
  EXPECT_EQ(engine.turns, (std::vector<std::size_t>{1, 2, 3}));
}

TEST_F(FlowDialingTest, ReturnsAFlowToAnAddressThatHasNone) {
  engine.failures = 1;
  dial(std::nullopt, 16, 2);
  ASSERT_TRUE(come(2));
  ASSERT_EQ(engine.turns, (std::vector<std::size_t>{1, 2})) << "both leave from the first";
  EXPECT_FALSE(dialled(3, kLeastReturnPause / 2)) << "its uplink is lost";
  ASSERT_TRUE(dialled(3)) << "and may be back";
  EXPECT_EQ(engine.turns.back(), 1U);
  EXPECT_EQ(joins.back(), (FlowName{1, 3}));
  EXPECT_EQ(flows(), 2U);
  EXPECT_FALSE(dialled(4, 2 * kLeastReturnPause + 500ms)) << "each has one";
}

TEST_F(FlowDialingTest, LeavesFromWhereItDidIfItCannotReturnAndTriesLater) {
  engine.failures = 1;
  dial(std::nullopt, 16, 2);
  ASSERT_TRUE(come(2));
  engine.failures = 1;
  ASSERT_TRUE(dialled(4)) << "the listener may have taken the one that failed";
  EXPECT_EQ(engine.turns, (std::vector<std::size_t>{1, 2, 1, 2}));
  EXPECT_EQ(joins.back(), (FlowName{1, 4}));
  EXPECT_FALSE(dialled(5, kLeastReturnPause)) << "the pause is longer each time";
  ASSERT_TRUE(dialled(5));
  EXPECT_EQ(engine.turns.back(), 1U);
}

TEST_F(FlowDialingTest, TriesEachAddressThatHasNoFlow) {
  engine.failures = 3;
  dial(std::nullopt, 16, 3);
  ASSERT_TRUE(come(3));
  ASSERT_EQ(engine.turns, (std::vector<std::size_t>{1, 2, 2, 3, 3})) << "all leave from the first";
  engine.failures = 1;
  ASSERT_TRUE(dialled(8));
  engine.turns.erase(engine.turns.begin(), engine.turns.begin() + 5);
  EXPECT_EQ(engine.turns, (std::vector<std::size_t>{1, 3, 2})) << "not the second again and again";
}

TEST_F(FlowDialingTest, LeavesAFlowInPeaceWhoseNewAddressIsNotHere) {
  engine.failures = 1;
  dial(std::nullopt, 16, 2);
  ASSERT_TRUE(come(2));
  engine.failures = 1;
  engine.failure = Errc::cannot_bind;
  ASSERT_TRUE(dialled(3));
  EXPECT_EQ(joins.back(), (FlowName{1, 2})) << "nothing has left, so nobody has taken it";
  ASSERT_TRUE(dialled(4)) << "later again";
  EXPECT_EQ(engine.turns, (std::vector<std::size_t>{1, 2, 1, 1}));
}

TEST_F(FlowDialingTest, KeepsAnOnlyFlowWhereItIs) {
  dial(std::nullopt, 1, 2);
  EXPECT_FALSE(dialled(1, 500ms));
}

TEST_F(FlowDialingTest, TriesAgainByAnotherAttempt) {
  engine.failures = 2;
  dial(2);
  EXPECT_TRUE(come(2));
  EXPECT_EQ(joins, (std::vector<FlowName>{{1, 3}}));
}

TEST_F(FlowDialingTest, TriesAgainWhereAJoinIsRefused) {
  dial(2);
  ASSERT_TRUE(asked(1));
  engine.far_ends.front()->close({});
  answered = 1;
  EXPECT_TRUE(come(2));
}

TEST_F(FlowDialingTest, BelievesNoAnswerWithoutTheKey) {
  dial(2);
  ASSERT_TRUE(asked(1));
  say(0, encode(Joined{}));
  ASSERT_TRUE(asked(2));
  EXPECT_EQ(flows(), 1U);
}

TEST_F(FlowDialingTest, RefusesGarbageForAnAnswer) {
  dial(2);
  ASSERT_TRUE(asked(1));
  say(0, std::vector<std::byte>(100, std::byte{0x16}));
  ASSERT_TRUE(asked(2));
  EXPECT_EQ(flows(), 1U);
}

TEST_F(FlowDialingTest, GivesUpAnAttemptThatIsNotAnswered) {
  dial(2);
  ASSERT_TRUE(asked(2)) << "the first is not answered";
  answered = 1;
  EXPECT_TRUE(come(2));
}

TEST_F(FlowDialingTest, DialsAFlowAgainThatHasEnded) {
  dial(3);
  ASSERT_TRUE(come(3));
  engine.far_ends[0]->close({});
  ASSERT_TRUE(come(2));
  ASSERT_TRUE(come(3));
  ASSERT_EQ(joins.size(), 3U);
  EXPECT_EQ(joins[2], (FlowName{joins[0].flow, 2}));
  EXPECT_EQ(engine.turns, (std::vector<std::size_t>{1, 2, joins[0].flow + 1U})) << "by the next address";
}

TEST_F(FlowDialingTest, DialsNothingOnceItIsDestroyed) {
  dial(3);
  ASSERT_TRUE(come(3));
  dialing.reset();
  const int connects = engine.connects;
  engine.far_ends[0]->close({});
  ASSERT_TRUE(come(2));
  test::run_for(io, 100ms);
  EXPECT_EQ(engine.connects, connects);
}

TEST_F(FlowDialingTest, CanBeDestroyedAtAnyStep) {
  for (int steps = 0; steps < 30; ++steps) {
    dial(6);
    for (int i = 0; i < steps; ++i) io.poll_one();
    dialing.reset();
    test::run_ready(io);
  }
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
