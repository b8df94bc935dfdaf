// SPDX-License-Identifier: Apache-2.0
/// A session over several UDT connections is the same session.
#include <unistd.h>

#include <csignal>

#include <random>

#include "e2e/support/udtcat_test.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::e2e {
namespace {

class FlowsOf : public UdtcatTest, public testing::WithParamInterface<const char*> {};

TEST_P(FlowsOf, CarryAPipeUnchanged) {
  const RandomFile file(11, scaled(64 * kMiB) + 12345);
  EXPECT_EQ(pipe_through(open_for_reading(file.path()), {"--protect", GetParam(), "--flows", "4"}), file.digest());
}

INSTANTIATE_TEST_SUITE_P(EachProtection, FlowsOf, testing::Values("private", "safe", "auth", "clear"),
                         [](const auto& chosen) { return std::string(chosen.param); });

class Flows : public UdtcatTest {};

TEST_F(Flows, CarrySmallBlocksUnchanged) {
  const RandomFile file(12, scaled(16 * kMiB) + 1);
  EXPECT_EQ(pipe_through(open_for_reading(file.path()), {"--block", "4KiB", "--flows", "16"}), file.digest());
}

TEST_F(Flows, CarryBothDirectionsAtOnceAsTheConnectorAsks) {
  TwoWay two_way(scaled(64 * kMiB), Afterwards::end, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end({"--flows", "4"}));
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

TEST_F(Flows, AllEndWithAPeerThatIsKilled) {
  TwoWay two_way(Producer::kEndless, Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end({"--flows", "4"}));
  ASSERT_TRUE(two_way.both_received(kMiB, kAtOnce)) << connector.errors() << listener.errors();
  listener.send_signal(SIGKILL);
  expect_exit(connector, kPeerLost, patience(15s));
  expect_says(connector, host_);
}

TEST_F(Flows, AreCountedByBothEndsThoughTheyHaveEnded) {
  const RandomFile file(14, scaled(32 * kMiB));
  const Arguments args{"--flows", "4", "--rate", "200M", "--stats", "json"};
  Process listener = listen({.args = args});
  Process connector = connect({.args = args, .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess, patience(30s));
  expect_exit(listener, kSuccess);
  for (const Process* end : {&connector, &listener}) expect_says(*end, "\"flows\":4,");
}

TEST_F(Flows, LoseAnInterruptedPeerByName) {
  TwoWay two_way(Producer::kEndless, Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end({"--flows", "4"}));
  ASSERT_TRUE(two_way.both_received(kMiB, kAtOnce)) << connector.errors() << listener.errors();
  connector.send_signal(SIGINT);
  EXPECT_TRUE(listener.wait(patience(15s)));
  expect_says(listener, "interrupted");
}

/// Four flows by a relay, of which some are cut while they carry.
class LostFlows : public UdtcatTest {
 protected:
  /// A file of so many bytes at 200 Mbit/s; `act` is called once all four carry.
  void carry(std::size_t bytes, const std::function<void(UdpRelay&)>& act, const Arguments& more = {}) {
    const RandomFile file(13, bytes);
    UdpRelay relay(port_);
    relay.capture();
    Consumer consumer;
    Process listener = listen({.args = {"--rate", "200M", "--flows", "16"}, .out = consumer.take_stdout()});
    Arguments args{"--flows", "4", "--rate", "200M", "--idle-timeout", "20s"};
    args.insert(args.end(), more.begin(), more.end());
    Process connector = connect_to(relay.port(), {.args = args, .in = open_for_reading(file.path())});
    ASSERT_TRUE(eventually(patience(10s), [&] { return relay.flows() >= 4; })) << connector.errors();
    ASSERT_TRUE(eventually(patience(10s), [&] { return consumer.bytes_read() > 0; }));
    act(relay);
    expect_exit(connector, kSuccess, patience(60s));
    expect_exit(listener, kSuccess, patience(60s));
    EXPECT_EQ(consumer.digest(), file.digest());
  }

  /// Whatever is cut, and whenever, those that took the place of others too.
  void cut_at_random(std::uint32_t seed, int transfers) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int transfer = 0; transfer < transfers && !HasFailure(); ++transfer) {
      SCOPED_TRACE(transfer);
      carry(scaled(32 * kMiB), [&](UdpRelay& relay) {
        const std::size_t cuts = 1 + random() % 6;
        for (std::size_t i = 0; i < cuts; ++i) {
          const std::size_t passed = relay.passed(Towards::listener);
          const std::size_t then = passed + 200 + random() % 3000;
          if (!eventually(patience(5s), [&] { return relay.passed(Towards::listener) >= then; })) return;
          relay.cut(random() % relay.flows());
        }
      });
    }
  }
};

TEST_F(LostFlows, AreReplaced) {
  carry(scaled(64 * kMiB), [](UdpRelay& relay) { relay.cut(2); });
}

TEST_F(LostFlows, MayBeTheFirst) {
  carry(scaled(64 * kMiB), [](UdpRelay& relay) { relay.cut(0); });
}

TEST_F(LostFlows, MayBeAllButOne) {
  carry(scaled(64 * kMiB), [](UdpRelay& relay) {
    for (const std::size_t flow : {0U, 1U, 3U}) relay.cut(flow);
  });
}

class ResetFlow : public LostFlows, public testing::WithParamInterface<Towards> {
 protected:
  /// The reset of the last flow (docs/spec/udt4.md §11), with the token that whoever sees its handshake knows.
  static Bytes reset_of_last_flow(const UdpRelay& relay, Towards towards) {
    const auto conclusions = relay.captured(towards, [](const PacketView& packet) {
      const auto handshake = handshake_of(packet);
      return handshake && handshake->request == kConclusion && packet.words() > 14;
    });
    EXPECT_FALSE(conclusions.empty());
    if (conclusions.empty()) return {};
    const PacketView last = conclusions.back().view();
    return control_packet(0xffff0005, handshake_of(last)->id, 0, to_bytes({last.word(13), last.word(14)}));
  }
};

TEST_P(ResetFlow, IsReplaced) {
  carry(scaled(64 * kMiB), [](UdpRelay& relay) {
    const std::size_t before = relay.flows();
    relay.inject(GetParam(), reset_of_last_flow(relay, GetParam()));
    EXPECT_TRUE(eventually(patience(10s), [&] { return relay.flows() > before; })) << "the forgery was not believed";
  });
}

INSTANTIATE_TEST_SUITE_P(At, ResetFlow, testing::Values(Towards::listener, Towards::connector), [](const auto& chosen) {
  return std::string(chosen.param == Towards::listener ? "TheListener" : "TheConnector");
});

TEST_F(LostFlows, AreFoundWhereNothingMoves) {
  for (const std::size_t lost : {0U, 1U}) {
    UdpRelay relay(port_);
    Consumer consumer;
    Pipe words = make_pipe();
    Process listener = listen({.out = consumer.take_stdout()});
    Process connector =
        connect_to(relay.port(), {.args = {"--flows", "2", "--idle-timeout", "20s"}, .in = std::move(words.reading)});
    const std::string line(1000, 'x');
    std::size_t said = 0;
    const auto say = [&] {
      ASSERT_EQ(::write(words.writing.fd(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
      said += line.size();
    };
    say();
    ASSERT_TRUE(eventually(patience(10s), [&] { return relay.flows() >= 2 && consumer.bytes_read() == said; }));
    let_pass(500ms);
    relay.cut(lost);
    for (int i = 0; i < 10; ++i) {
      say();
      let_pass(20ms);
    }
    EXPECT_TRUE(eventually(patience(8s), [&] { return consumer.bytes_read() == said; }))
        << "flow " << lost << ": " << consumer.bytes_read() << " of " << said << connector.errors();
    words.writing = {};
    expect_exit(connector, kSuccess, patience(10s));
    expect_exit(listener, kSuccess, patience(10s));
    port_ = free_port();
  }
}

TEST_F(LostFlows, LoseNothingWhateverIsCut) { cut_at_random(20261129, 5); }

TEST_F(LostFlows, SoakLoseNothingWhateverIsCut) { cut_at_random(std::random_device()(), 100); }

}  // namespace
}  // namespace udtcat::test::e2e
