// SPDX-License-Identifier: Apache-2.0
/// Stands for this module in a program that is built without it (-DUDTCAT_GRIDFTP=OFF).
#include "gridftp/command/commands.hpp"

namespace udtcat::gridftp {

namespace {

std::string help_text() { return "udtcat gridftp: this program was built without it\n"; }

Result<std::unique_ptr<tool::Invocation>> refuse(const tool::Words& arguments) {
  if (arguments == tool::Words{"--help"}) return nullptr;
  return fail(Errc::bad_argument, "gridftp", "this program was built without it");
}

}  // namespace

tool::Commands commands() { return {{.words = {"gridftp"}, .help = help_text, .parse = refuse}}; }

}  // namespace udtcat::gridftp
