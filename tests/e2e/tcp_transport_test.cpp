// SPDX-License-Identifier: Apache-2.0
/// A session over TCP is the same session: what it carries, and what somebody on the path can do to it.
#include <csignal>

#include <nlohmann/json.hpp>

#include "e2e/support/tcp_relay.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

Arguments over_tcp(Arguments more = {}) {
  more.insert(more.end(), {"--transport", "tcp"});
  return more;
}

class PipeOverTcp : public UdtcatTest, public testing::WithParamInterface<const char*> {};

TEST_P(PipeOverTcp, IsUnchanged) {
  const RandomFile file(1, scaled(64 * kMiB) + 12345);
  EXPECT_EQ(pipe_through(open_for_reading(file.path()), over_tcp({"--protect", GetParam()})), file.digest());
}

TEST_P(PipeOverTcp, IsUnchangedOverSeveralFlows) {
  const RandomFile file(2, scaled(64 * kMiB) + 1);
  EXPECT_EQ(pipe_through(open_for_reading(file.path()), over_tcp({"--protect", GetParam(), "--flows", "4"})),
            file.digest());
}

TEST_P(PipeOverTcp, IsOfNoBytes) {
  EXPECT_EQ(pipe_through(open_null(), over_tcp({"--protect", GetParam()})).bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(EachProtection, PipeOverTcp, testing::Values("private", "safe", "auth", "clear"),
                         [](const auto& chosen) { return std::string(chosen.param); });

/// Both ends over a relay, at a protection.
class TcpPath : public UdtcatTest, public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] Arguments args(Arguments more = {}) const {
    more.insert(more.end(), {"--protect", GetParam(), "--idle-timeout", "3s"});
    return over_tcp(std::move(more));
  }
  [[nodiscard]] std::string key() const { return std::string(GetParam()) == "clear" ? "" : key_; }

  /// An endless pipe to the listener, which is under way.
  struct UnderWay {
    explicit UnderWay(TcpPath& test) {
      listener.emplace(test.listen({.args = test.args(), .out = consumer.take_stdout(), .key = test.key()}));
      connector.emplace(
          test.connect_to(test.relay_.port(), {.args = test.args(), .in = producer.take_stdin(), .key = test.key()}));
      EXPECT_TRUE(eventually(kTransferLimit, [&] { return consumer.bytes_read() > kMiB; })) << connector->errors();
    }
    /// Neither end takes it for an end.
    void expect_lost() {
      expect_exit(*connector, kPeerLost, patience(20s));
      expect_exit(*listener, kPeerLost, patience(20s));
    }
    Producer producer{1, Producer::kEndless, Afterwards::keep_open};
    Consumer consumer;
    std::optional<Process> listener;
    std::optional<Process> connector;
  };

  TcpRelay relay_{port_};
};

INSTANTIATE_TEST_SUITE_P(EachProtection, TcpPath, testing::Values("private", "safe", "auth", "clear"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST_P(TcpPath, ThatResetsIsALossAtBothEnds) {
  UnderWay pipe(*this);
  relay_.reset();
  pipe.expect_lost();
}

TEST_P(TcpPath, ThatForgesAnEndToTheListenerIsALoss) {
  UnderWay pipe(*this);
  relay_.forge_end(Towards::listener);
  pipe.expect_lost();
}

TEST_P(TcpPath, ThatForgesAnEndToTheConnectorIsALoss) {
  UnderWay pipe(*this);
  relay_.forge_end(Towards::connector);
  pipe.expect_lost();
}

TEST_P(TcpPath, ThatSwallowsEverythingIsALossAfterTheIdleTimeout) {
  UnderWay pipe(*this);
  relay_.black_hole();
  pipe.expect_lost();
}

TEST_P(TcpPath, ThatPausesForAWhileLosesNothing) {
  const RandomFile file(3, scaled(64 * kMiB));
  Consumer consumer;
  Process listener = listen({.args = args(), .out = consumer.take_stdout(), .key = key()});
  Process connector = connect_to(relay_.port(), {.args = args(), .in = open_for_reading(file.path()), .key = key()});
  ASSERT_TRUE(eventually(kTransferLimit, [&] { return consumer.bytes_read() > kMiB; })) << connector.errors();
  relay_.pause(true);
  let_pass(1500ms);
  relay_.pause(false);
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
}

TEST_P(TcpPath, ToAPeerThatIsKilledIsALoss) {
  UnderWay pipe(*this);
  pipe.connector->send_signal(SIGKILL);
  expect_exit(*pipe.listener, kPeerLost, patience(20s));
}

TEST_P(TcpPath, ToAListenerThatIsKilledIsALoss) {
  UnderWay pipe(*this);
  pipe.listener->send_signal(SIGKILL);
  expect_exit(*pipe.connector, kPeerLost, patience(20s));
}

/// A bit that is flipped on the path.
class TcpTampering : public UdtcatTest, public testing::WithParamInterface<std::tuple<const char*, std::uint64_t>> {};

INSTANTIATE_TEST_SUITE_P(At, TcpTampering,
                         testing::Combine(testing::Values("private", "safe"),
                                          testing::Values(std::uint64_t{100'000}, std::uint64_t{8'000'001})),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param)) + std::to_string(std::get<1>(chosen.param));
                         });

TEST_P(TcpTampering, IsFoundAndOnlyTrueBytesAreReleased) {
  const auto [protection, offset] = GetParam();
  const RandomFile file(4, 16 * kMiB);
  Consumer consumer;
  TcpRelay relay(port_);
  relay.flip_bit(Towards::listener, offset);
  const Arguments args = over_tcp({"--protect", protection});
  Process listener = listen({.args = args, .out = consumer.take_stdout()});
  Process connector = connect_to(relay.port(), {.args = args, .in = open_for_reading(file.path())});
  expect_exit(listener, kTampered);
  expect_exit(connector, kTampered);
  EXPECT_TRUE(relay.has_flipped());
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_LT(consumer.bytes_read(), file.digest().bytes);
  EXPECT_EQ(consumer.digest(), digest_of_prefix(file.path(), consumer.bytes_read()));
}

class OverTcp : public UdtcatTest {};

TEST_F(OverTcp, BothDirectionsAreUnchangedAtOnce) {
  TwoWay two_way(scaled(64 * kMiB), Afterwards::end, Begin::at_once);
  Process listener = listen(two_way.listener.end(over_tcp()));
  Process connector = connect(two_way.connector.end(over_tcp({"--flows", "3"})));
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

TEST_F(OverTcp, AnotherKeyIsRefusedInWords) {
  Process listener = listen({.args = over_tcp()});
  Process connector = connect({.args = over_tcp(), .key = make_key()});
  expect_exit(connector, kRefused);
  expect_says(connector, "both ends need the same one");
  Process peer = connect({.args = over_tcp()});
  expect_exit(peer, kSuccess);
  expect_exit(listener, kSuccess);
}

TEST_F(OverTcp, APortOfUdpIsNotReached) {
  Process listener = listen();
  Process connector = connect({.args = over_tcp({"--connect-timeout", "500ms"})});
  expect_exit(connector, kUnreachable);
  expect_says(connector, "nobody listens on that TCP port");
  Process peer = connect();
  expect_exit(peer, kSuccess);
  expect_exit(listener, kSuccess);
}

TEST_F(OverTcp, TheObjectAtTheEndSaysNothingOfUdp) {
  const RandomFile file(5, scaled(8 * kMiB));
  Consumer consumer;
  Process listener = listen({.args = over_tcp(), .out = consumer.take_stdout()});
  Process connector = connect({.args = over_tcp({"--stats", "json"}), .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  const auto lines = connector.error_lines();
  ASSERT_FALSE(lines.empty());
  const auto json = nlohmann::json::parse(lines.back());
  EXPECT_EQ(json["transport"], "tcp");
  EXPECT_TRUE(json["congestion"].is_null());
  EXPECT_GT(json["packets_sent"], 0);
}

TEST_F(OverTcp, ServicesAreForwardedAsOverUdp) {
  Process listener = listen({.args = over_tcp({"--exec", "cat"})});
  Consumer consumer;
  const RandomFile file(6, scaled(8 * kMiB));
  Process connector = connect({.args = over_tcp(), .in = open_for_reading(file.path()), .out = consumer.take_stdout()});
  expect_exit(connector, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
  listener.send_signal(SIGTERM);
}

}  // namespace
}  // namespace udtcat::test::e2e
