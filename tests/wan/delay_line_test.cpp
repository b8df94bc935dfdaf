// SPDX-License-Identifier: Apache-2.0
#include "wan/delay_line.hpp"

#include <gtest/gtest.h>

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

class DelayLineTest : public testing::Test {
 protected:
  void push(std::size_t bytes, std::chrono::nanoseconds due, bool late = false) {
    line_.push({.memory = std::make_unique<std::byte[]>(bytes), .bytes = bytes}, begin_ + due, late);
  }
  /// The sizes of what is due by then, which tell the packets apart.
  std::vector<std::size_t> pop(std::chrono::nanoseconds by) {
    std::vector<std::size_t> sizes;
    while (const auto packet = line_.pop(begin_ + by)) sizes.push_back(packet->bytes);
    return sizes;
  }

  using Sizes = std::vector<std::size_t>;
  DelayLine line_;
  TimePoint begin_{1h};
};

TEST_F(DelayLineTest, KeepsPacketsUntilTheyAreDue) {
  push(1, 10ms);
  push(2, 20ms);
  EXPECT_EQ(line_.next_due(), begin_ + 10ms);
  EXPECT_EQ(pop(9ms), Sizes{});
  EXPECT_EQ(pop(10ms), Sizes{1});
  EXPECT_EQ(pop(30ms), Sizes{2});
  EXPECT_EQ(line_.next_due(), std::nullopt);
}

TEST_F(DelayLineTest, LetsALateOneBeOvertaken) {
  push(1, 13ms, true);
  push(2, 11ms);
  push(3, 12ms);
  push(4, 14ms);
  EXPECT_EQ(pop(20ms), (Sizes{2, 3, 1, 4}));
}

TEST_F(DelayLineTest, KeepsTheOrderWhenTheDelayShrinks) {
  push(1, 50ms);
  push(2, 5ms);
  EXPECT_EQ(pop(20ms), Sizes{});
  EXPECT_EQ(pop(50ms), (Sizes{1, 2}));
}

}  // namespace
}  // namespace udtcat::wan
