// SPDX-License-Identifier: Apache-2.0
/// process_cpu_time() of snapshot.
#include "tool/status/snapshot.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

TEST(ProcessCpuTime, IsThatOfThisProcess) { EXPECT_GT(process_cpu_time().count(), 0); }

}  // namespace
}  // namespace udtcat::tool
