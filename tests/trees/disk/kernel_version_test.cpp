// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/kernel_version.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

TEST(KernelVersions, AreComparedByNumbers) {
  EXPECT_GT((KernelVersion{5, 10}), (KernelVersion{5, 9}));
  EXPECT_GT((KernelVersion{10, 0}), (KernelVersion{9, 99}));
}

TEST(KernelVersions, AreKnownOfThisHost) {
  EXPECT_TRUE(is_kernel_since({3, 0}));
  EXPECT_FALSE(is_kernel_since({999, 0}));
}

}  // namespace
}  // namespace udtcat::trees
