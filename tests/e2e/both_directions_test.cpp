// SPDX-License-Identifier: Apache-2.0
/// Acceptance 2: both directions at once, and every order in which the ends of the two can come.
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class BothDirections : public UdtcatTest {};

TEST_F(BothDirections, CarryAQuarterGibibyteEachAtOnce) {
  TwoWay two_way(scaled(256 * kMiB), Afterwards::end, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end());
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

/// An order of four events: L and C, the listener's and the connector's stdin end; l and c, its consumer takes
/// everything up to the end of file. A consumer's end can only follow the other side's stdin's.
class BothDirectionsEnding : public UdtcatTest, public testing::WithParamInterface<std::string> {
 protected:
  static void happen(char event, TwoWay& two_way) {
    switch (event) {
      case 'L':
        return two_way.listener.producer.end();
      case 'C':
        return two_way.connector.producer.end();
      case 'l':
        return consume(two_way.listener.consumer);
      default:
        return consume(two_way.connector.consumer);
    }
  }

 private:
  static void consume(Consumer& consumer) {
    consumer.begin();
    EXPECT_TRUE(consumer.wait_for_end(kTransferLimit)) << "no end of file after " << consumer.bytes_read() << " bytes";
  }
};

TEST_P(BothDirectionsEnding, InThisOrderLosesNothing) {
  constexpr std::uint64_t kBeyondAnyPipe = kMiB;
  TwoWay two_way(kBeyondAnyPipe, Afterwards::keep_open, Begin::when_told);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end());
  for (const char event : GetParam()) happen(event, two_way);
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

INSTANTIATE_TEST_SUITE_P(Order, BothDirectionsEnding, testing::Values("LCcl", "LClc", "CLcl", "CLlc", "LcCl", "ClLc"),
                         [](const auto& chosen) { return chosen.param; });

TEST_F(BothDirections, CarryOnlyOneWhereOneEndOnlySends) {
  const RandomFile file(3, scaled(16 * kMiB));
  Consumer consumer;
  // The pipe to its stdin stays open: a receiver must not wait for what it has been told not to read.
  Producer silent(4, 0, Afterwards::keep_open);
  Process listener = listen({.args = {"--recv-only"}, .in = silent.take_stdin(), .out = consumer.take_stdout()});
  Process connector = connect({.args = {"--send-only"}, .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  ASSERT_TRUE(consumer.wait_for_end(kAtOnce));
  EXPECT_EQ(consumer.digest(), file.digest());
}

}  // namespace
}  // namespace udtcat::test::e2e
