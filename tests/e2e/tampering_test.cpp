// SPDX-License-Identifier: Apache-2.0
/// Acceptance 7: somebody on the path changes bytes or forges the end. He is found out, and nothing wrong is released.
#include <atomic>
#include <map>
#include <optional>
#include <set>

#include "e2e/support/udtcat_test.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::e2e {
namespace {

// Of so many bytes a packet of that number is well before the end, even where the loopback's large MTU makes packets
// large.
constexpr std::uint64_t kTamperedBytes = 16 * kMiB;
constexpr std::size_t kMiddle = 100;
constexpr std::size_t kBeginning = 10;  // behind the handshake, whatever the size of packets

class Tampering : public UdtcatTest {
 protected:
  Tampering() { relay_.capture(); }

  /// Flips one bit in the middle of the n-th data packet, and in every later copy of it, so that a lost copy does not
  /// undo the attack. A connector that dials again counts from another number.
  void flip_bit(Towards towards, std::size_t nth) {
    struct Seen {
      std::set<std::uint32_t> sequences{};
      std::optional<std::uint32_t> flipped{};
    };
    const auto flip = [this, nth,
                       connections = std::map<std::uint32_t, Seen>()](std::span<std::byte> datagram) mutable {
      const PacketView packet(datagram);
      if (!packet.is_data() || packet.payload().empty()) return;
      Seen& seen = connections[packet.destination()];
      // One that is sent again may have arrived before.
      const bool is_new = seen.sequences.insert(packet.sequence()).second;
      if (is_new && seen.sequences.size() == nth) seen.flipped = packet.sequence();
      if (seen.flipped != packet.sequence()) return;
      datagram[kHeaderBytes + packet.payload().size() / 2] ^= std::byte{1};
      ++flipped_;
    };
    relay_.rewrite(towards, flip);
  }
  /// Sends a UDT shutdown that looks as if the other end had sent it.
  void forge_shutdown(Towards towards) {
    const auto seen = relay_.captured(towards, [](const PacketView& packet) { return packet.destination() != 0; });
    ASSERT_FALSE(seen.empty());
    relay_.inject(towards, control_packet(Type::shutdown, 0, seen.back().view().destination(), Words{0}));
  }
  void lose_everything(bool on) {
    for (const Towards towards : {Towards::listener, Towards::connector}) relay_.blackhole(towards, on);
  }

  std::atomic<std::size_t> flipped_ = 0;
  UdpRelay relay_{port_};
};

struct Attack {
  std::string name;
  Arguments args;
  std::size_t nth;
};
void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

class TamperingBit : public Tampering, public testing::WithParamInterface<Attack> {};

TEST_P(TamperingBit, IsFoundAndOnlyTrueBytesWereReleased) {
  const RandomFile file(1, kTamperedBytes);
  Consumer consumer;
  flip_bit(Towards::listener, GetParam().nth);
  Process listener = listen({.args = GetParam().args, .out = consumer.take_stdout()});
  Process connector = connect_to(relay_.port(), {.args = GetParam().args, .in = open_for_reading(file.path())});
  expect_exit(listener, kTampered);
  expect_exit(connector, kTampered);
  EXPECT_GE(flipped_, 1U);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_LT(consumer.bytes_read(), file.digest().bytes);
  EXPECT_EQ(consumer.digest(), digest_of_prefix(file.path(), consumer.bytes_read()));
}

INSTANTIATE_TEST_SUITE_P(Flipped, TamperingBit,
                         testing::Values(Attack{"AtTheBeginning", {}, kBeginning}, Attack{"InTheMiddle", {}, kMiddle},
                                         Attack{"AtSafe", {"--protect", "safe"}, kMiddle},
                                         Attack{"InChaCha20Poly1305", {"--cipher", "chacha20-poly1305"}, kMiddle},
                                         Attack{"InSmallBlocks", {"--block", "4KiB"}, kMiddle}),
                         [](const auto& chosen) { return chosen.param.name; });

TEST_F(Tampering, WithWhatTheListenerSendsIsFoundToo) {
  const RandomFile file(2, kTamperedBytes);
  Consumer consumer;
  flip_bit(Towards::connector, kMiddle);
  Process listener = listen({.in = open_for_reading(file.path())});
  Process connector = connect_to(relay_.port(), {.out = consumer.take_stdout()});
  expect_exit(connector, kTampered);
  expect_exit(listener, kTampered);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), digest_of_prefix(file.path(), consumer.bytes_read()));
}

TEST_F(Tampering, WithTheHandshakeNeverSucceedsNorHarmsTheListener) {
  const RandomFile file(3, kMiB);
  Consumer consumer;
  flip_bit(Towards::listener, 1);
  Process listener = listen({.out = consumer.take_stdout()});
  Process deceived =
      connect_to(relay_.port(), {.args = {"--connect-timeout", "3s"}, .in = open_for_reading(file.path())});
  const auto ending = deceived.wait(kTransferLimit);
  ASSERT_TRUE(ending) << deceived.errors();
  EXPECT_NE(ending->status, kSuccess);
  EXPECT_EQ(consumer.bytes_read(), 0U);
  Process peer = connect({.in = open_for_reading(file.path())});
  expect_exit(peer, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
}

class ForgedShutdown : public Tampering, public testing::WithParamInterface<Towards> {
 protected:
  // libudt believes whoever knows its numbers.
  const std::vector<std::string> kOverLibudt{"--transport", "libudt", "--idle-timeout", "5s"};
};

TEST_P(ForgedShutdown, IsALossAtBothEndsAndNeverAnEnd) {
  TwoWay two_way(scaled(kMiB), Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end(kOverLibudt));
  Process connector = connect_to(relay_.port(), two_way.connector.end(kOverLibudt));
  ASSERT_TRUE(two_way.both_received(scaled(kMiB), kTransferLimit)) << connector.errors() << listener.errors();
  forge_shutdown(GetParam());
  expect_exit(listener, kPeerLost, patience(15s));
  expect_exit(connector, kPeerLost, patience(15s));
}

TEST_P(ForgedShutdown, WithTheStreamsAllButEndedIsNeverAnEndEither) {
  // Everything has arrived, and its end too; only the consumer has not taken it. That is not success.
  Producer producer(1, 32 * kKiB, Afterwards::end);
  Consumer consumer(Begin::when_told);
  Process listener = listen({.args = kOverLibudt, .out = consumer.take_stdout()});
  Process connector = connect_to(relay_.port(), {.args = kOverLibudt, .in = producer.take_stdin()});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return producer.bytes_taken() == 32 * kKiB; })) << connector.errors();
  ASSERT_FALSE(connector.wait(1s)) << connector.errors();
  forge_shutdown(GetParam());
  expect_exit(connector, kPeerLost, patience(15s));
  expect_exit(listener, kPeerLost, patience(15s));
}

TEST_P(ForgedShutdown, IsNotBelievedByOurOwnTransport) {
  TwoWay two_way(scaled(64 * kMiB), Afterwards::end, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect_to(relay_.port(), two_way.connector.end());
  ASSERT_TRUE(two_way.both_received(scaled(1 * kMiB), kTransferLimit)) << connector.errors() << listener.errors();
  forge_shutdown(GetParam());
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

INSTANTIATE_TEST_SUITE_P(Sent, ForgedShutdown, testing::Values(Towards::listener, Towards::connector),
                         [](const auto& chosen) {
                           return chosen.param == Towards::listener ? "ToTheListener" : "ToTheConnector";
                         });

TEST_F(Tampering, ByLosingEverythingForAWhileLosesNothing) {
  TwoWay two_way(scaled(64 * kMiB), Afterwards::end, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect_to(relay_.port(), two_way.connector.end());
  ASSERT_TRUE(two_way.both_received(scaled(4 * kMiB), kTransferLimit)) << connector.errors() << listener.errors();
  lose_everything(true);
  EXPECT_FALSE(connector.wait(3s)) << connector.errors();
  lose_everything(false);
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

}  // namespace
}  // namespace udtcat::test::e2e
