// SPDX-License-Identifier: Apache-2.0
#include "ssh/push_progress.hpp"

#include <gmock/gmock.h>

namespace udtcat::ssh {
namespace {

using namespace std::chrono_literals;

class PushProgressLine : public testing::Test {
 protected:
  /// The line after so many seconds in each of which `step` bytes have come.
  std::string after(int seconds, std::uint64_t step, std::size_t columns = tool::kWholeLine) {
    std::string line = progress.line(0s, columns);
    for (int i = 1; i <= seconds; ++i) {
      progress.hear(static_cast<std::uint64_t>(i) * step, i * 1s);
      line = progress.line(i * 1s, columns);
    }
    return line;
  }
  PushProgress progress{"far", 4'100'000};
};

TEST_F(PushProgressLine, BeginsAtZero) {
  EXPECT_EQ(after(0, 0), "udtcat: sending udtcat to far  [  0 %] 0 B of 4.10 MB  0:00");
}

TEST_F(PushProgressLine, SaysHowMuchIsThereTheRateAndTheTimeLeft) {
  EXPECT_EQ(after(4, 410'000), "udtcat: sending udtcat to far  [ 40 %] 1.64 MB of 4.10 MB  410 kB/s  0:06 left");
}

TEST_F(PushProgressLine, IsAsWideAsItsWindow) {
  EXPECT_EQ(after(4, 410'000, 60), "udtcat: sending udtcat to far  [ 40 %] 1.64 MB of 4.10 MB");
}

TEST_F(PushProgressLine, SaysThatTheFarSideIsSilent) {
  after(4, 410'000);
  EXPECT_THAT(progress.line(6s, tool::kWholeLine), testing::Not(testing::HasSubstr("no answer")));
  EXPECT_THAT(progress.line(9s, tool::kWholeLine), testing::EndsWith("[ 40 %] 1.64 MB of 4.10 MB  no answer for 5 s"));
}

TEST_F(PushProgressLine, NeverGoesBack) {
  progress.hear(2'050'000, 1s);
  progress.hear(41'000, 2s);
  EXPECT_THAT(progress.line(2s, tool::kWholeLine), testing::HasSubstr("[ 50 %]"));
}

}  // namespace
}  // namespace udtcat::ssh
