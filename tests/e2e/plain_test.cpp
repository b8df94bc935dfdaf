// SPDX-License-Identifier: Apache-2.0
/// --plain: bare bytes to and from UDT4 programs that know nothing of udtcat.
#include <csignal>

#include "e2e/support/udt_program.hpp"
#include "e2e/support/udtcat_test.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::e2e {
namespace {

/// The programs at both ends, and the transport by which ours speaks; empty: the default.
class PlainTest : public UdtcatTest {
 protected:
  [[nodiscard]] Process plain_listener(End end = {}) const { return listen(plain(std::move(end))); }
  [[nodiscard]] Process plain_connector(End end = {}) const { return connect(plain(std::move(end))); }
  [[nodiscard]] Process foreign(const std::string& meets, const std::string& does, Descriptor in = open_null(),
                                Descriptor out = open_null()) const {
    return udt_program(meets, does, port_, std::move(in), std::move(out));
  }

  void expect_same(const Consumer& consumer, const RandomFile& file) const {
    ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
    EXPECT_EQ(consumer.digest(), file.digest());
  }

  [[nodiscard]] End plain(End end) const {
    end.args.insert(end.args.begin(), "--plain");
    if (!transport_.empty()) end.args.insert(end.args.end(), {"--transport", transport_});
    end.key = "";
    return end;
  }

  std::string transport_;
};

struct Case {
  std::uint64_t bytes;
  std::string transport;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.bytes << " bytes, transport " << one.transport; }

class PlainDigest : public PlainTest, public testing::WithParamInterface<Case> {
 protected:
  PlainDigest() { transport_ = GetParam().transport; }
  /// An empty input alone would wait for the peer.
  [[nodiscard]] static Arguments sender_args() {
    return GetParam().bytes == 0 ? Arguments{"--send-only"} : Arguments{};
  }

  const RandomFile file_{11, GetParam().bytes};
  Consumer consumer_;
};

TEST_P(PlainDigest, IsTheSameAtAForeignListener) {
  Process receiver = foreign("listen", "receive", open_null(), consumer_.take_stdout());
  Process sender = plain_connector({.args = sender_args(), .in = open_for_reading(file_.path())});
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess);
  expect_same(consumer_, file_);
}

TEST_P(PlainDigest, IsTheSameAtAForeignConnector) {
  Process sender = plain_listener({.args = sender_args(), .in = open_for_reading(file_.path())});
  Process receiver = foreign("connect", "receive", open_null(), consumer_.take_stdout());
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess);
  expect_same(consumer_, file_);
}

TEST_P(PlainDigest, IsTheSameFromAForeignListener) {
  Process sender = foreign("listen", "send", open_for_reading(file_.path()));
  Process receiver = plain_connector({.out = consumer_.take_stdout()});
  expect_exit(receiver, kSuccess);
  expect_exit(sender, kSuccess);
  expect_same(consumer_, file_);
}

TEST_P(PlainDigest, IsTheSameFromAForeignConnector) {
  if (GetParam().bytes == 0) GTEST_SKIP() << "libudt does not say who came and went without a word";
  Process receiver = plain_listener({.args = {"--recv-only"}, .out = consumer_.take_stdout()});
  Process sender = foreign("connect", "send", open_for_reading(file_.path()));
  expect_exit(receiver, kSuccess);
  expect_exit(sender, kSuccess);
  expect_same(consumer_, file_);
}

TEST_P(PlainDigest, IsTheSameBetweenTwoOfUs) {
  Process receiver = plain_listener({.out = consumer_.take_stdout()});
  Process sender = plain_connector({.args = sender_args(), .in = open_for_reading(file_.path())});
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess);
  expect_same(consumer_, file_);
}

// 1456 bytes are the payload of one packet on Ethernet.
INSTANTIATE_TEST_SUITE_P(Of, PlainDigest,
                         testing::Values(Case{0, ""}, Case{1, ""}, Case{1456, ""}, Case{1457, ""},
                                         Case{scaled(10'000'000), ""}, Case{0, "libudt"}, Case{1457, "libudt"},
                                         Case{scaled(10'000'000), "libudt"}),
                         [](const auto& chosen) {
                           const auto& transport = chosen.param.transport;
                           return std::to_string(chosen.param.bytes) + (transport.empty() ? "ByDefault" : transport);
                         });

using Plain = PlainTest;

TEST_F(Plain, SaysLoudlyThatNothingIsProtected) {
  for (const char* how_loud : {"-q", "-v"}) {
    Process listener = plain_listener({.args = {how_loud}});
    Process connector = plain_connector({.args = {how_loud, "--send-only"}});
    expect_exit(connector, kSuccess);
    expect_exit(listener, kSuccess);
    EXPECT_EQ(count_lines(connector, "WARNING: --plain"), 1) << connector.errors();
    EXPECT_EQ(count_lines(listener, "WARNING: --plain"), 1) << listener.errors();
    EXPECT_EQ(count_lines(listener, "nothing proves"), std::string(how_loud) == "-v" ? 1 : 0) << listener.errors();
  }
}

TEST_F(Plain, TakesNoKey) {
  Process process = udtcat({"127.0.0.1", "9", "--plain", "-k", "/dev/null"});
  expect_exit(process, kUsage, kAtOnce);
  expect_says(process, "--plain and -k");
}

TEST_F(Plain, IsNotWhatASessionTakes) {
  Process listener = listen();
  Process connector = plain_connector({.args = {"--send-only"}});
  expect_exit(connector, kSuccess);
  EXPECT_FALSE(listener.wait(1s)) << "it waits on for a peer that has the key: " << listener.errors();
}

TEST_F(Plain, CarriesQuestionAndAnswer) {
  TwoWay two_way(1000, Afterwards::keep_open, Begin::at_once);
  Process listener = plain_listener(two_way.listener.end());
  Process connector = plain_connector(two_way.connector.end());
  ASSERT_TRUE(two_way.both_received(1000, kAtOnce)) << connector.errors() << listener.errors();
  two_way.connector.producer.end();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

TEST_F(Plain, WaitsForAPeerThatIsSlowThoughItsOwnInputIsEmpty) {
  Producer producer(1, 100, Afterwards::keep_open);
  Consumer consumer;
  Process listener = plain_listener({.out = consumer.take_stdout()});
  Process connector = plain_connector({.in = producer.take_stdin()});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return consumer.bytes_read() == 100; })) << listener.errors();
  EXPECT_FALSE(listener.wait(5s)) << "longer than a silence that means something: " << listener.errors();
  producer.end();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
}

TEST_F(Plain, HoldsASenderUpThatIsFasterThanItsConsumer) {
  constexpr std::uint64_t bytes = 256 * kMiB;  // under a sanitizer too: both ends and the path hold some tens
  Producer producer(3, bytes, Afterwards::end);
  Consumer consumer(Begin::when_told);
  Process listener = plain_listener({.out = consumer.take_stdout()});
  Process connector = plain_connector({.args = {"--send-only"}, .in = producer.take_stdin()});
  EXPECT_FALSE(connector.wait(3s)) << connector.errors();
  EXPECT_LT(producer.bytes_taken(), bytes);
  consumer.begin();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), producer.digest());
}

TEST_F(Plain, SaysThatAPeerClosedTooEarly) {
  Process early = foreign("listen", "read-some");
  Producer producer(4, Producer::kEndless, Afterwards::keep_open);
  Process sender = plain_connector({.in = producer.take_stdin()});
  expect_exit(sender, kPeerLost);
  expect_exit(early, kSuccess);
  expect_says(sender, host_);
}

TEST_F(Plain, TellsADeadPeerFromOneThatCloses) {
  Producer producer(5, 100, Afterwards::keep_open);
  Consumer consumer;
  Process receiver = plain_listener({.out = consumer.take_stdout()});
  Process sender = plain_connector({.in = producer.take_stdin()});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return consumer.bytes_read() == 100; })) << receiver.errors();
  sender.send_signal(SIGKILL);
  expect_exit(receiver, kPeerLost, patience(30s));
  expect_says(receiver, host_);
}

TEST_F(Plain, IsLostWhereNothingThatItSendsIsAcknowledgedThoughItsPeerIsHeard) {
  transport_ = "libudt";  // which takes any packet for life
  Producer from_listener(7, Producer::kEndless, Afterwards::keep_open);
  Producer from_connector(8, Producer::kEndless, Afterwards::keep_open);
  Consumer consumer;
  UdpRelay relay(port_);
  Process listener = plain_listener({.in = from_listener.take_stdin()});
  Process connector = connect_to(
      relay.port(),
      plain({.args = {"--idle-timeout", "3s"}, .in = from_connector.take_stdin(), .out = consumer.take_stdout()}));
  ASSERT_TRUE(eventually(kAtOnce, [&] { return consumer.bytes_read() > 0; })) << connector.errors();
  relay.blackhole(Towards::listener, true);
  expect_exit(connector, kPeerLost, patience(8s));
  expect_says(connector, "nothing was acknowledged for too long");
}

TEST_F(Plain, StopsAtASignal) {
  Process listener = plain_listener();
  Producer producer(6, 100, Afterwards::keep_open);
  Process connector = plain_connector({.in = producer.take_stdin()});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return producer.bytes_taken() == 100; }));
  EXPECT_FALSE(connector.wait(500ms));
  connector.send_signal(SIGTERM);
  expect_exit(connector, kTerminated, kAtOnce);
  expect_exit(listener, kSuccess, kAtOnce);
}

TEST_F(Plain, SaysWhenNobodyIsThere) {
  Process connector = plain_connector();
  expect_exit(connector, kUnreachable, patience(6s));
  Process listener = plain_listener({.args = {"--accept-timeout", "1s"}});
  expect_exit(listener, kUnreachable, patience(4s));
}

}  // namespace
}  // namespace udtcat::test::e2e
