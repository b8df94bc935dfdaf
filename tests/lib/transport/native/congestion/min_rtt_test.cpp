#include "lib/transport/native/congestion/min_rtt.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(MinRtt, KeepsTheLeast) {
  MinRtt rtt;
  EXPECT_FALSE(rtt.value());
  rtt.update(at(0s), 50ms);
  rtt.update(at(1s), 40ms);
  rtt.update(at(2s), 60ms);
  EXPECT_EQ(rtt.value(), Duration{40ms});
}

TEST(MinRtt, IsDueForAProbeAfterFiveSecondsWithoutAConfirmation) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.update(at(5s), 60ms);
  EXPECT_FALSE(rtt.probe_due());
  rtt.update(at(5001ms), 60ms);
  EXPECT_TRUE(rtt.probe_due());
  rtt.update(at(5002ms), 60ms);
  EXPECT_FALSE(rtt.probe_due()) << "asked once, and answered by whoever acts on it";
}

TEST(MinRtt, IsConfirmedByASampleALittleAbove) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.update(at(4s), 40ms + 900us);
  rtt.update(at(8s), 60ms);
  EXPECT_FALSE(rtt.probe_due());
  EXPECT_EQ(rtt.value(), Duration{40ms}) << "confirmed, not raised";
}

TEST(MinRtt, IsNotConfirmedByAQueueOfSomeMilliseconds) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.update(at(4s), 42ms);
  rtt.update(at(5001ms), 42ms);
  EXPECT_TRUE(rtt.probe_due());
}

TEST(MinRtt, ForgetsAShorterPathInTenSeconds) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  for (auto time = Duration{1s}; time <= 10s; time += 1s) rtt.update(at(time), 80ms);
  EXPECT_EQ(rtt.value(), Duration{40ms});
  rtt.update(at(10'001ms), 90ms);
  EXPECT_EQ(rtt.value(), Duration{80ms}) << "the least since then";
}

TEST(MinRtt, OutlivesASilence) {
  MinRtt rtt;
  rtt.update(at(0s), 40ms);
  rtt.confirm(at(60s));
  rtt.update(at(60s), 45ms);
  EXPECT_FALSE(rtt.probe_due());
  EXPECT_EQ(rtt.value(), Duration{40ms});
}

}  // namespace
}  // namespace udtcat::transport::native::test
