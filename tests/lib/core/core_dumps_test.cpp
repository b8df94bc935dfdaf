// SPDX-License-Identifier: Apache-2.0
#include "lib/core/core_dumps.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace udtcat::core {
namespace {

using testing::ExitedWithCode;

rlimit core_limit() {
  rlimit limit{};
  EXPECT_EQ(::getrlimit(RLIMIT_CORE, &limit), 0);
  return limit;
}

TEST(CoreDumpsDeathTest, AreForbiddenAndCanBeGivenBack) {
  const auto forbids = [] {
    auto before = core_limit();
    before.rlim_cur = std::min<rlim_t>(before.rlim_max, 4096);
    EXPECT_EQ(::setrlimit(RLIMIT_CORE, &before), 0);
    const auto told = forbid_core_dumps(false);
    const bool none = core_limit().rlim_cur == 0 && core_limit().rlim_max == before.rlim_max;
    allow_core_dumps(told);
    ::_exit(none && told == before.rlim_cur && core_limit().rlim_cur == before.rlim_cur ? 0 : 1);
  };
  EXPECT_EXIT(forbids(), ExitedWithCode(0), "");
}

TEST(CoreDumpsDeathTest, AreForbiddenForGoodWhereNobodyNeedsThem) {
  const auto forbids = [] {
    const auto told = forbid_core_dumps(true);
    allow_core_dumps(told);
    ::_exit(core_limit().rlim_cur == 0 && core_limit().rlim_max == 0 ? 0 : 1);
  };
  EXPECT_EXIT(forbids(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace udtcat::core
