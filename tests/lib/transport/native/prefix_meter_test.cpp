// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/prefix_meter.hpp"

#include <string>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class PrefixMeterTest : public testing::Test {
 protected:
  int taken(int wanted, const char* host) {
    int count = 0;
    for (int i = 0; i < wanted; ++i) count += meter.take(now, core::prefix_of(endpoint(host, 1))) ? 1 : 0;
    return count;
  }
  PrefixMeter meter = PrefixMeter::create({10, 25}).value();
  TimePoint now = kStart;
};

TEST_F(PrefixMeterTest, LetsAPrefixHaveABurstAndThenItsRate) {
  EXPECT_EQ(taken(100, "192.0.2.1"), 10);
  now += 500ms;
  EXPECT_EQ(taken(100, "192.0.2.2"), 5);
  now += 1h;
  EXPECT_EQ(taken(100, "192.0.2.3"), 10) << "what was not taken is not kept";
}

TEST_F(PrefixMeterTest, LimitsAllPrefixesTogether) {
  int all = 0;
  for (int i = 0; i < 200; ++i) all += taken(1, ("10.0." + std::to_string(i) + ".1").c_str());
  EXPECT_EQ(all, 25);
}

TEST_F(PrefixMeterTest, LimitsWhileTheClockStands) {
  EXPECT_EQ(taken(100, "2001:db8::1"), 10);
  now -= 1s;
  EXPECT_EQ(taken(100, "2001:db8::1"), 0);
}

}  // namespace
}  // namespace udtcat::transport::native
