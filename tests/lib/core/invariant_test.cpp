// SPDX-License-Identifier: Apache-2.0
#include "lib/core/invariant.hpp"

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(InvariantDeathTest, AbortsAndSaysWhyItShouldHold) {
  const int lanes = 0;
  EXPECT_DEATH(UDTCAT_INVARIANT(lanes > 0, "the handshake refuses less"), "lanes > 0.*the handshake refuses less");
}

TEST(Invariant, PassesSilently) { UDTCAT_INVARIANT(true, "it does"); }

}  // namespace
}  // namespace udtcat::core
