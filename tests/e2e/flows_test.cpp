// SPDX-License-Identifier: Apache-2.0
/// A session over several UDT connections is the same session.
#include <csignal>

#include "e2e/support/udtcat_test.hpp"

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

TEST_F(Flows, LoseAnInterruptedPeerByName) {
  TwoWay two_way(Producer::kEndless, Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end({"--flows", "4"}));
  ASSERT_TRUE(two_way.both_received(kMiB, kAtOnce)) << connector.errors() << listener.errors();
  connector.send_signal(SIGINT);
  EXPECT_TRUE(listener.wait(patience(15s)));
  expect_says(listener, "interrupted");
}

}  // namespace
}  // namespace udtcat::test::e2e
