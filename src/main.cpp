// SPDX-License-Identifier: Apache-2.0
/// The program: the commands of every module, in one table.
#include "bench/commands.hpp"
#include "gridftp/command/commands.hpp"
#include "pipe/commands.hpp"
#include "rsh/command/as_ssh.hpp"
#include "rsh/command/commands.hpp"
#include "tool/program/command.hpp"
#include "trees/command/commands.hpp"

int main(int argc, char** argv) {
  auto all = udtcat::pipe::commands();
  for (const auto& more :
       {udtcat::bench::commands(), udtcat::rsh::commands(), udtcat::trees::commands(), udtcat::gridftp::commands()})
    all.insert(all.end(), more.begin(), more.end());
  const udtcat::tool::Words words(argv, argv + argc);
  return udtcat::tool::run(udtcat::rsh::words_as_ssh(words).value_or(words), all);
}
