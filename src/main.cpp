// SPDX-License-Identifier: Apache-2.0
/// The program: the commands of every module, in one table.
#include "bench/commands.hpp"
#include "gridftp/command/commands.hpp"
#include "meet/commands.hpp"
#include "pipe/commands.hpp"
#include "rsh/command/commands.hpp"
#include "tool/cli/key_hiding.hpp"
#include "tool/program/command.hpp"
#include "trees/command/commands.hpp"

int main(int argc, char** argv) {
  auto all = udtcat::pipe::commands();
  const auto add = [&all](const udtcat::tool::Commands& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(udtcat::bench::commands());
  add(udtcat::meet::commands());
  add(udtcat::rsh::commands());
  add(udtcat::trees::commands());
  if constexpr (UDTCAT_HAS_GRIDFTP != 0) add(udtcat::gridftp::commands());
  const udtcat::tool::Words words(argv, argv + argc);
  udtcat::tool::hide_keys({argv, argv + argc});
  return udtcat::tool::run(udtcat::rsh::words_as_ssh(words).value_or(words), all);
}
