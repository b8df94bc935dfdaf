// SPDX-License-Identifier: Apache-2.0
/// The program: the commands of every wing, in one table.
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
  const udtcat::tool::Words words(argv, argv + argc);
  return udtcat::tool::run(udtcat::rsh::words_as_ssh(words).value_or(words), all);
}
