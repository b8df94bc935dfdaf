// SPDX-License-Identifier: Apache-2.0
/// The version of the library: version(), in src/lib/core/options.cpp.
#include <cstdio>

#include <gtest/gtest.h>
#include <udtcat/udtcat.hpp>

namespace udtcat {
namespace {

TEST(Version, HasThreeNumbers) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  EXPECT_EQ(std::sscanf(version(), "%u.%u.%u", &major, &minor, &patch), 3);
}

}  // namespace
}  // namespace udtcat
