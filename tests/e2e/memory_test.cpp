// SPDX-License-Identifier: Apache-2.0
/// Acceptance 11: memory doesn't follow the amount of data, nor the slowness of a consumer.
#include <algorithm>
#include <tuple>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class Memory : public UdtcatTest {
 protected:
  /// The highest that either process ever had resident, until both have ended.
  [[nodiscard]] static std::uint64_t peak_until_end(Process& listener, Process& connector,
                                                    std::chrono::milliseconds limit) {
    std::uint64_t peak = 0;
    EXPECT_TRUE(eventually(limit, [&] {
      peak = std::max({peak, listener.peak_resident_bytes(), connector.peak_resident_bytes()});
      return !listener.running() && !connector.running();
    }));
    return peak;
  }

  void expect_bounded(std::uint64_t bytes) const {
    Pipe pipe = make_pipe();
    Process head({.argv = {"head", "-c", std::to_string(bytes), "/dev/zero"}, .out = std::move(pipe.writing)});
    Consumer consumer;
    Process listener = listen({.out = consumer.take_stdout()});
    Process connector = connect({.in = std::move(pipe.reading)});
    const std::uint64_t peak = peak_until_end(listener, connector, kTransferLimit * 5);
    RecordProperty("peak_resident_bytes", std::to_string(peak));
    EXPECT_LE(peak, kResidentLimitBytes);
    expect_exit(connector, kSuccess, 0s);
    expect_exit(listener, kSuccess, 0s);
    EXPECT_EQ(consumer.digest().bytes, bytes) << "of which the pipe has the last when both have ended";
  }
};

TEST_F(Memory, OfATwoGibibytePipeIsBounded) { expect_bounded(scaled(2 * kGiB)); }
TEST_F(Memory, OfAnEightGibibytePipeIsBoundedSoak) { expect_bounded(scaled(8 * kGiB)); }

TEST_F(Memory, OfAStoppedConsumerIsBounded) {
  const std::uint64_t bytes = std::max(scaled(kGiB), 256 * kMiB);  // more than both ends and their pipes hold
  Producer producer(1, bytes, Afterwards::end);
  Consumer consumer(Begin::when_told);
  Process listener = listen({.out = consumer.take_stdout()});
  Process connector = connect({.in = producer.take_stdin()});
  std::uint64_t taken = 0;
  // The flow has stopped when nothing was taken for a second.
  while (taken < producer.bytes_taken() || taken == 0) {
    taken = producer.bytes_taken();
    std::ignore = eventually(1s, [&] { return producer.bytes_taken() > taken; });
  }
  EXPECT_LT(taken, bytes) << "nothing was ever held back";
  EXPECT_LE(listener.peak_resident_bytes(), kResidentLimitBytes);
  EXPECT_LE(connector.peak_resident_bytes(), kResidentLimitBytes);
  consumer.begin();
  EXPECT_LE(peak_until_end(listener, connector, kTransferLimit), kResidentLimitBytes);
  expect_exit(connector, kSuccess, 0s);
  expect_exit(listener, kSuccess, 0s);
  EXPECT_EQ(consumer.digest(), producer.digest());
}

}  // namespace
}  // namespace udtcat::test::e2e
