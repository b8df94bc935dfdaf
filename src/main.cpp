// SPDX-License-Identifier: Apache-2.0
/// The program: the commands of every wing, in one table.
#include "gridftp/command/commands.hpp"
#include "rsh/command/commands.hpp"
#include "tool/command.hpp"
#include "tool/commands.hpp"
#include "trees/command/commands.hpp"

int main(int argc, char** argv) {
  auto all = udtcat::tool::commands();
  for (const auto& more : {udtcat::rsh::commands(), udtcat::trees::commands(), udtcat::gridftp::commands()})
    all.insert(all.end(), more.begin(), more.end());
  return udtcat::tool::run(argc, argv, all);
}
