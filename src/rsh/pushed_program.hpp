/// Our own program, as what is copied to a far side that has none. The preset `static` builds one that runs everywhere.
#pragma once

#include <udtcat/result.hpp>

#include "rsh/bootstrap.hpp"
#include "rsh/bootstrap_script.hpp"

namespace udtcat::rsh {

struct OwnProgram {
  ProgramToPush program;
  PushedProgram pushed;
};

/// errors: Errc::local_read_failed
[[nodiscard]] Result<OwnProgram> own_program();

}  // namespace udtcat::rsh
