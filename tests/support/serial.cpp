// SPDX-License-Identifier: Apache-2.0
/// Tests that measure, `Serial` in their name: they and what they start have the processors before all others, so that
/// what else the machine does is not measured. ctest runs one of them at a time (tests/CMakeLists.txt).
#include <string_view>
#include <tuple>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace udtcat::test {
namespace {

constexpr int kBeforeAllOthers = -20;  // spec: setpriority(2)

class Precedence final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    const std::string_view suite = test.test_suite_name();
    const std::string_view name = test.name();
    // Without CAP_SYS_NICE there is no precedence: the test is then as good as the machine is quiet.
    if (suite.find("Serial") != suite.npos || name.find("Serial") != name.npos)
      std::ignore = ::setpriority(PRIO_PROCESS, 0, kBeforeAllOthers);
  }
};

[[maybe_unused]] const bool kAppended = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Precedence);  // gtest's own from here on
  return true;
}();

}  // namespace
}  // namespace udtcat::test
