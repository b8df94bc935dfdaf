// SPDX-License-Identifier: Apache-2.0
#include "lib/core/dropped_datagrams.hpp"

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(DroppedDatagrams, AreSummedUp) {
  const std::uint64_t before = dropped_datagrams();
  count_dropped_datagrams(3);
  count_dropped_datagrams(4);
  EXPECT_EQ(dropped_datagrams() - before, 7U);
}

}  // namespace
}  // namespace udtcat::core
