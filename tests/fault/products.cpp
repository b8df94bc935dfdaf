// SPDX-License-Identifier: Apache-2.0
#include "fault/products.hpp"

#include <chrono>
#include <csignal>
#include <fstream>

#include "support/deadline.hpp"

namespace udtcat::fault {

std::unique_ptr<Case> make_case(Stage& stage, const Scenario& scenario, unsigned number) {
  switch (scenario.product) {
    case Product::exec:
      if (!stage.subject().has_exec) return nullptr;
      [[fallthrough]];
    case Product::pipe:
      return make_pipe_case(stage, scenario, number);
    case Product::forward:
      return make_forward_case(stage, scenario, number);
    case Product::rsh:
      return make_rsh_case(stage, scenario, number);
    case Product::get:
    case Product::put:
      return make_gridftp_case(stage, scenario, number);
    case Product::send:
    case Product::receive:
      return make_trees_case(stage, scenario, number);
    case Product::bench:
      return make_bench_case(stage, scenario, number);
  }
  return nullptr;
}

std::string publishing_command(const std::filesystem::path& directory, const std::filesystem::path& where) {
  const std::string part = where.string() + "/part.$$";
  return "echo $PPID > " + directory.string() + "/parent; echo $$ > " + directory.string() + "/pid; cat > " + part +
         " && mv " + part + " " + directory.string() + "/final";
}

void wait_for_command(const std::filesystem::path& pid_file, Report& report) {
  // spec: rsh.md §5: an interrupted command is gone within 1.1 s, that of a lost session within 7.3 s; the rest is a
  // loaded machine's.
  constexpr std::chrono::seconds kGoneWithin{12};
  pid_t pid = 0;
  std::ifstream(pid_file) >> pid;
  if (pid > 0 && !test::eventually(kGoneWithin, [pid] { return ::kill(pid, 0) != 0; })) {
    report.hangs.emplace_back("the command outlived its session");
    ::kill(pid, SIGKILL);
  }
}

}  // namespace udtcat::fault
