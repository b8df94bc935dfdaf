#include "lib/connection/flow_dialing.hpp"

#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>

#include "lib/connection/several_flows.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using session::Joined;
using session::Role;

/// Every connect succeeds after `failures` that do not, and gives a path in memory.
class FakeEngine final : public transport::Engine {
 public:
  explicit FakeEngine(boost::asio::io_context& io) : io_(io) {}
  void async_connect(const Endpoint&, std::chrono::milliseconds, transport::ChannelHandler handler) override {
    most_at_once = std::max(most_at_once, ++at_once);
    if (failures > 0) {
      --failures;
      return boost::asio::post(io_, [this, handler = std::move(handler)] {
        --at_once;
        handler(fail(Errc::cannot_reach, "connect"));
      });
    }
    fault::ChannelPair pair(io_);
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
  std::vector<std::shared_ptr<fault::Pipe>> pipes;

 private:
  boost::asio::io_context& io_;
};

class FlowDialingTest : public ::testing::Test {
 protected:
  void dial(std::size_t flows) {
    fault::ChannelPair pair(io);
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
    const auto deadline = std::chrono::steady_clock::now() + 15s;
    while (!condition() && std::chrono::steady_clock::now() < deadline) io.run_one_for(10ms);
    ASSERT_TRUE(condition());
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
    io.restart();
    io.poll();
    EXPECT_FALSE(result);
  }
}

}  // namespace
}  // namespace udtcat::connection
