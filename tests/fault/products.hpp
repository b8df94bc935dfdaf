// SPDX-License-Identifier: Apache-2.0
/// The products, and the words that several of them are told in.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "fault/case.hpp"

namespace udtcat::fault {

[[nodiscard]] std::unique_ptr<Case> make_pipe_case(Stage& stage, const Scenario& scenario, unsigned number);
[[nodiscard]] std::unique_ptr<Case> make_forward_case(Stage& stage, const Scenario& scenario, unsigned number);
[[nodiscard]] std::unique_ptr<Case> make_rsh_case(Stage& stage, const Scenario& scenario, unsigned number);
[[nodiscard]] std::unique_ptr<Case> make_gridftp_case(Stage& stage, const Scenario& scenario, unsigned number);
[[nodiscard]] std::unique_ptr<Case> make_trees_case(Stage& stage, const Scenario& scenario, unsigned number);
[[nodiscard]] std::unique_ptr<Case> make_bench_case(Stage& stage, const Scenario& scenario, unsigned number);

/// Takes its stdin for complete when it ends, and gives it the name `final` then. Who started it is found in `parent`,
/// it itself in `pid`.
[[nodiscard]] std::string publishing_command(const std::filesystem::path& directory,
                                             const std::filesystem::path& where);
/// A hang where the process whose number is in the file is still there after all times have passed.
void wait_for_command(const std::filesystem::path& pid_file, Report& report);

}  // namespace udtcat::fault
