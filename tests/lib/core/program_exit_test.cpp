// SPDX-License-Identifier: Apache-2.0
#include "lib/core/program_exit.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(ProgramExit, SaysTheStatusOrTheSignal) {
  EXPECT_EQ(program_exit(3, 0).message(), "ended with status 3");
  EXPECT_EQ(program_exit(0, SIGTERM).message(), "was ended by signal 15");
  EXPECT_FALSE(program_exit(0, 0)) << "it went well";
}

TEST(ProgramExit, IsToldFromOtherErrors) {
  EXPECT_TRUE(is_program_exit(program_exit(3, 0)));
  EXPECT_FALSE(is_program_exit(program_exit(0, 0)));
  EXPECT_FALSE(is_program_exit(std::make_error_code(std::errc::broken_pipe)));
}

}  // namespace
}  // namespace udtcat::core
