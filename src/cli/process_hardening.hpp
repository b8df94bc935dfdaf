/// What a process that holds a key and moves somebody's data owes its user before it does anything else.
#pragma once

namespace udtcat::cli {

/// Descriptors 0 to 2 that came closed are filled, so that no socket gets their numbers; reading or writing them fails
/// as if they were still closed.
void fill_standard_descriptors();

/// No core dump, no tracing by other processes of this user, no death by SIGPIPE or, too early, by SIGUSR1.
void harden_process();

// The platform's part: process_hardening_linux.cpp, process_hardening_default.cpp.
void forbid_tracing();

}  // namespace udtcat::cli
