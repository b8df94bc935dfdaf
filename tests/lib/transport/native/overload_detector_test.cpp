// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/overload_detector.hpp"

#include <array>

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

constexpr std::size_t kOverloadBuffer = 1000;

class OverloadDetectorTest : public testing::Test {
 protected:
  void read(std::size_t connection, std::size_t bytes, std::uint64_t drops = 0) {
    detector.on_datagram(shares.at(connection), bytes);
    detector.on_read(
        bytes, drops, shares, [](OverloadDetector::Share & share) -> auto& { return share; });
  }
  std::array<OverloadDetector::Share, 3> shares{};
  OverloadDetector detector{kOverloadBuffer};
};

TEST_F(OverloadDetectorTest, TellsConnectionsThatBroughtHalfAnEqualShareOfALargeBacklog) {
  read(0, 300);
  read(1, 50);
  EXPECT_EQ(shares[0].overloads, 0U);
  read(2, 150);
  EXPECT_EQ(shares[0].overloads, 1U);
  EXPECT_EQ(shares[1].overloads, 0U) << "less than 500 / 3 / 2";
  EXPECT_EQ(shares[2].overloads, 1U);
}

TEST_F(OverloadDetectorTest, TellsAnOverloadThatLastsAgain) {
  for (int i = 0; i < 4; ++i) read(0, 250);
  EXPECT_EQ(shares[0].overloads, 2U);
}

TEST_F(OverloadDetectorTest, CountsABacklogFromTheLastTimeThatTheSocketWasEmpty) {
  for (int i = 0; i < 10; ++i) {
    read(0, 400);
    detector.on_emptied();
  }
  EXPECT_EQ(shares[0].overloads, 0U);
}

TEST_F(OverloadDetectorTest, TellsOfDropsHoweverSmallTheBacklogIs) {
  read(0, 10, 1);
  read(0, 10, 1);
  EXPECT_EQ(shares[0].overloads, 1U);
  read(0, 10, 0);
  EXPECT_EQ(shares[0].overloads, 1U) << "another socket counts from zero";
  read(0, 10, 1);
  EXPECT_EQ(shares[0].overloads, 2U);
}

}  // namespace
}  // namespace udtcat::transport::native
