// SPDX-License-Identifier: Apache-2.0
/// Acceptance 6: who does not hold the key is turned away, cheaply, and never in the place of one who does.
#include "e2e/support/udt_strangers.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class Strangers : public UdtcatTest {
 protected:
  [[nodiscard]] Process connect_with_wrong_key() const {
    return connect({.args = {"--connect-timeout", "3s"}, .key = make_key()});
  }

  /// Everything at once: silent UDT connections that stay, garbage, and wrong keys, each of which must fail.
  void send_them() {
    silent_.emplace(port_, scaled_count(200));
    std::vector<Process> wrong_keys;
    for (int left = scaled_count(20); left > 0; --left) wrong_keys.push_back(connect_with_wrong_key());
    send_garbage(port_, 10'000);
    EXPECT_TRUE(silent_->arrived(kTransferLimit));
    for (Process& wrong_key : wrong_keys) {
      const auto ending = wrong_key.wait(kTransferLimit);
      ASSERT_TRUE(ending) << wrong_key.errors();
      EXPECT_TRUE(ending->status == kRefused || ending->status == kUnreachable)
          << ending->status << ": " << wrong_key.errors();
    }
  }

  std::optional<UdtStrangers> silent_;
};

TEST_F(Strangers, DoNotTakeTheSlotOfTheRightPeer) {
  const RandomFile file(2, kMiB);
  Consumer consumer;
  Process listener = listen({.out = consumer.take_stdout()});
  // A first stranger shows that the listener is there, so that the memory is that of a listener at work.
  Process first = connect_with_wrong_key();
  expect_exit(first, kRefused, kAtOnce);
  const std::uint64_t before = listener.resident_bytes();
  send_them();
  EXPECT_LE(listener.peak_resident_bytes(), before + kStrangersLimitBytes);
  Process peer = connect({.in = open_for_reading(file.path())});
  expect_exit(peer, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
}

TEST_F(Strangers, DoNotStopATransfer) {
  constexpr std::uint64_t kBytes =
      scaled(128 * kMiB);  // some five seconds at this rate, longer than the strangers take
  TwoWay two_way(kBytes, Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end({"--rate", "200M"}));
  ASSERT_TRUE(two_way.both_received(kMiB, kTransferLimit)) << connector.errors() << listener.errors();
  const std::uint64_t before = listener.resident_bytes();
  send_them();
  ASSERT_TRUE(two_way.both_received(kBytes, kTransferLimit)) << connector.errors() << listener.errors();
  EXPECT_LE(listener.peak_resident_bytes(), before + kStrangersLimitBytes);
  two_way.listener.producer.end();
  two_way.connector.producer.end();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
}

}  // namespace
}  // namespace udtcat::test::e2e
