// SPDX-License-Identifier: Apache-2.0
#include "lib/core/program_exit.hpp"

#include <string>

#include <fmt/format.h>

namespace udtcat::core {

namespace {

constexpr int kSignalBase = 256;  // of the values that stand for signals: above any status

class ProgramExitCategory final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "program end"; }
  [[nodiscard]] std::string message(int value) const override {
    if (value < kSignalBase) return fmt::format("ended with status {}", value);
    return fmt::format("was ended by signal {}", value - kSignalBase);
  }
};

const std::error_category& program_end_category() {
  static const ProgramExitCategory category;
  return category;
}

}  // namespace

std::error_code program_exit(int status, int signal) {
  if (signal != 0) return {kSignalBase + signal, program_end_category()};
  return status == 0 ? std::error_code{} : std::error_code(status, program_end_category());
}

bool is_program_exit(std::error_code error) { return error.category() == program_end_category(); }

}  // namespace udtcat::core
