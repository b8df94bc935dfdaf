// SPDX-License-Identifier: Apache-2.0
/// Runs of a model, as `check` has made them, each to be done again by the code that the model stands for.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat::models {

/// "says.0:100000,000000": its name, the end that does it, and what can be seen behind it.
struct Step {
  std::string name;
  std::size_t end = 0;
  std::string seen;
};
using Steps = std::vector<Step>;

inline Steps parse_run(const std::string& line) {
  Steps run;
  std::istringstream words(line);
  std::string word;
  words >> word;  // RUN
  while (words >> word) {
    const std::size_t dot = word.find('.');
    const std::size_t colon = word.find(':');
    run.push_back(
        {word.substr(0, dot), word[dot + 1] == '1' ? std::size_t{1} : std::size_t{0}, word.substr(colon + 1)});
  }
  return run;
}

/// Does the steps of a run, and compares what can be seen behind each.
/// code   take(step), and shows(seen): whether that can be seen, or will within its time; seen() for people
/// returns   as play_all_runs() has it
template <typename Code>
std::string take_steps(const Steps& run, Code& code) {
  for (const Step& step : run) {
    code.take(step);
    if (testing::Test::HasFailure()) return step.name + " cannot be done";
    if (!code.shows(step.seen)) return "behind " + step.name + ": " + code.seen() + " instead of " + step.seen;
  }
  return {};
}

/// Does each run of the file that the environment's UDTCAT_RUNS names, up to the first that differs.
/// play   does a run.  returns   "": the code does what the model does; else the difference
inline void play_all_runs(const std::function<std::string(const Steps&)>& play) {
  const char* const path = std::getenv("UDTCAT_RUNS");
  ASSERT_NE(path, nullptr) << "run by tests/models/check, which makes the runs and names their file in UDTCAT_RUNS";
  std::ifstream file(path);
  std::size_t runs = 0;
  std::size_t steps = 0;
  for (std::string line; std::getline(file, line);) {
    const Steps run = parse_run(line);
    ++runs;
    steps += run.size();
    const std::string difference = play(run);
    ASSERT_TRUE(difference.empty()) << difference << "\nin " << line;
  }
  EXPECT_GT(runs, 0U) << path << " has no runs";
  std::cout << runs << " runs of " << steps << " steps\n";
}

}  // namespace udtcat::models
