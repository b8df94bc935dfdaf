// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/process_setup.hpp"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace udtcat::tool {
namespace {

using testing::ExitedWithCode;

TEST(ProcessHardeningDeathTest, FillsDescriptorsThatCameClosedWithOnesThatFail) {
  const auto without_stdio = [] {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    fill_standard_descriptors();
    char byte = 0;
    const bool read_fails = ::read(STDIN_FILENO, &byte, 1) < 0 && errno == EBADF;
    const bool write_fails = ::write(STDOUT_FILENO, &byte, 1) < 0 && errno == EBADF;
    const bool numbers_are_taken = ::socket(AF_INET, SOCK_DGRAM, 0) > STDERR_FILENO;
    ::_exit(read_fails && write_fails && numbers_are_taken ? 0 : 1);
  };
  EXPECT_EXIT(without_stdio(), ExitedWithCode(0), "");
}

TEST(ProcessHardeningDeathTest, AllowsDescriptorsUpToTheHardLimit) {
  const auto allows = [] {
    const rlimit low{.rlim_cur = 64, .rlim_max = 128};
    rlimit limit{};
    if (::setrlimit(RLIMIT_NOFILE, &low) != 0) ::_exit(1);
    allow_descriptors(32);
    const bool is_left = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 64;
    allow_descriptors(4096);
    const bool is_raised = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 128;
    const rlimit soft{.rlim_cur = 64, .rlim_max = 128};
    if (::setrlimit(RLIMIT_NOFILE, &soft) != 0) ::_exit(1);
    allow_descriptors(kAllDescriptors);
    const bool is_all = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 128;
    ::_exit(is_left && is_raised && is_all ? 0 : 1);
  };
  EXPECT_EXIT(allows(), ExitedWithCode(0), "");
}

TEST(ProcessHardeningDeathTest, LeavesNoCoreAndSurvivesABrokenPipeAndAFullFile) {
  const auto hardened = [] {
    rlimit limit{};
    std::ignore = ::getrlimit(RLIMIT_CORE, &limit);
    const bool told = harden_process() == limit.rlim_cur;
    const bool may_return = ::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 && limit.rlim_max != 0;
    forbid_core_dumps_for_good();
    const bool no_core = ::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 && limit.rlim_max == 0 && told;
    std::ignore = ::raise(SIGPIPE);
    std::ignore = ::raise(SIGXFSZ);
    ::_exit(no_core && may_return ? 0 : 1);
  };
  EXPECT_EXIT(hardened(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace udtcat::tool
