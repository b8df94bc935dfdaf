/// What a process that holds a key and moves somebody's data owes its user before it does anything else.
#pragma once

#include <cstdint>

namespace udtcat::tool {

/// Descriptors 0 to 2 that came closed are filled, so that no socket gets their numbers; reading or writing them fails
/// as if they were still closed.
void fill_standard_descriptors();

/// No core dump, no tracing by other processes of this user, no death by SIGPIPE, SIGXFSZ or, too early, by SIGUSR1.
/// starts_programs   the limit of core dumps can be given back to what we start; else it is gone for good
/// returns   what the soft limit of core dumps was, which programs that we start get back
std::uint64_t harden_process(bool starts_programs);

/// As many open descriptors as the hard limit allows, up to `wanted`: the usual soft one is for who uses select().
void allow_descriptors(std::uint64_t wanted);

}  // namespace udtcat::tool
