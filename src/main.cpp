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

namespace {

/// In the place of the commands of a module that this build lacks.
[[maybe_unused]] udtcat::tool::Command no_gridftp() {
  return {.words = {"gridftp"},
          .help = [] { return std::string("udtcat gridftp is not in this program, as in no static one\n"); },
          .parse = [](const udtcat::tool::Words&) -> udtcat::Result<std::unique_ptr<udtcat::tool::Invocation>> {
            return udtcat::fail(
                udtcat::Errc::bad_argument, "udtcat gridftp",
                "this program was built without it, as the static one is; Debian's package udtcat has it");
          }};
}

}  // namespace

int main(int argc, char** argv) {
  auto all = udtcat::pipe::commands();
  const auto add = [&all](const udtcat::tool::Commands& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(udtcat::bench::commands());
  add(udtcat::meet::commands());
  add(udtcat::rsh::commands());
  add(udtcat::trees::commands());
  if constexpr (UDTCAT_HAS_GRIDFTP != 0)
    add(udtcat::gridftp::commands());
  else
    add({no_gridftp()});
  const udtcat::tool::Words words(argv, argv + argc);
  udtcat::tool::hide_keys({argv, argv + argc});
  return udtcat::tool::run(udtcat::rsh::words_as_ssh(words).value_or(words), all);
}
