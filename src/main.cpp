// SPDX-License-Identifier: Apache-2.0
/// The program: the commands of every wing, in one table.
#include <string>
#include <vector>

#include "gridftp/command/commands.hpp"
#include "rsh/command/as_ssh.hpp"
#include "rsh/command/commands.hpp"
#include "tool/command.hpp"
#include "tool/commands.hpp"
#include "trees/command/commands.hpp"

int main(int argc, char** argv) {
  auto all = udtcat::tool::commands();
  for (const auto& more : {udtcat::rsh::commands(), udtcat::trees::commands(), udtcat::gridftp::commands()})
    all.insert(all.end(), more.begin(), more.end());
  const auto words = udtcat::rsh::words_as_ssh({argv, argv + argc});
  if (!words) return udtcat::tool::run(argc, argv, all);
  std::vector<const char*> as_ssh;
  for (const std::string& word : *words) as_ssh.push_back(word.c_str());
  as_ssh.push_back(nullptr);
  return udtcat::tool::run(static_cast<int>(words->size()), as_ssh.data(), all);
}
