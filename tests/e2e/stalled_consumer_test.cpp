// SPDX-License-Identifier: Apache-2.0
/// Acceptance 3: a consumer may take its time; the sender waits for it, since only then is it done.
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

/// One transfer whose consumer does not begin until told.
struct Stalled {
  Stalled(std::uint64_t seed, std::uint64_t bytes)
      : producer(seed, bytes, Afterwards::end), consumer(Begin::when_told) {}
  Producer producer;
  Consumer consumer;
};

class StalledConsumer : public UdtcatTest {
 protected:
  /// The other transfer's.
  std::uint16_t other_port_ = free_port();
};

TEST_F(StalledConsumer, GetsEveryByteAfterNinetySecondsSlow) {
  // One that fits into the buffers on the way, so that the sender could think itself done, and one that does not.
  Stalled small(1, 300 * kKiB);
  Stalled large(2, scaled(128 * kMiB));
  Process small_listener = listen({.out = small.consumer.take_stdout()});
  Process small_connector = connect({.in = small.producer.take_stdin()});
  port_ = other_port_;
  Process large_listener = listen({.out = large.consumer.take_stdout()});
  Process large_connector = connect({.in = large.producer.take_stdin()});

  EXPECT_FALSE(small_connector.wait(90s)) << small_connector.errors();
  EXPECT_TRUE(large_connector.running() && small_listener.running() && large_listener.running());

  for (Stalled* stalled : {&small, &large}) stalled->consumer.begin();
  for (Process* process : {&small_connector, &large_connector, &small_listener, &large_listener})
    expect_exit(*process, kSuccess);
  EXPECT_EQ(small.consumer.digest(), small.producer.digest());
  EXPECT_EQ(large.consumer.digest(), large.producer.digest());
}

TEST_F(StalledConsumer, GetsEveryByteOfAShortMessage) {
  // Fits into the pipe itself: nobody but the consumer knows that it was not read.
  Stalled stalled(3, 10);
  Process listener = listen({.out = stalled.consumer.take_stdout()});
  Process connector = connect({.in = stalled.producer.take_stdin()});
  EXPECT_FALSE(connector.wait(3s)) << "done before the consumer was:\n" << connector.errors();
  stalled.consumer.begin();
  expect_exit(connector, kSuccess, kAtOnce);
  expect_exit(listener, kSuccess, kAtOnce);
  EXPECT_EQ(stalled.consumer.digest(), stalled.producer.digest());
}

}  // namespace
}  // namespace udtcat::test::e2e
