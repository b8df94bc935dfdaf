// SPDX-License-Identifier: Apache-2.0
#include "lib/core/program_end.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(ProgramEnds, SayTheStatusOrTheSignal) {
  EXPECT_EQ(program_end(3, 0).message(), "ended with status 3");
  EXPECT_EQ(program_end(0, SIGTERM).message(), "was ended by signal 15");
  EXPECT_FALSE(program_end(0, 0)) << "it went well";
}

TEST(ProgramEnds, AreToldFromOtherErrors) {
  EXPECT_TRUE(is_program_end(program_end(3, 0)));
  EXPECT_FALSE(is_program_end(program_end(0, 0)));
  EXPECT_FALSE(is_program_end(std::make_error_code(std::errc::broken_pipe)));
}

}  // namespace
}  // namespace udtcat::core
