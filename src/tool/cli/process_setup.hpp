// SPDX-License-Identifier: Apache-2.0
/// The first steps of a process that holds a key and moves somebody's data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::tool {

/// Descriptors 0 to 2 that came closed are filled, so that no socket gets their numbers; reading or writing them fails
/// as if they were still closed.
void fill_standard_descriptors();

/// No core dump, no tracing by other processes of this user, no death by SIGPIPE, SIGXFSZ or, too early, by SIGUSR1.
/// returns   the former soft limit of core dumps, which programs that we start get back
std::uint64_t harden_process();

/// Where the program is static: users, groups and hosts are those of /etc/passwd, /etc/group, /etc/hosts and DNS.
/// /etc/nsswitch.conf may name modules, which would be loaded with a C library that they were not made for (ADR-0082).
/// Call before there are other threads.
void use_no_modules_of_the_host();

/// Forbids core dumps to a process that starts no programs: nobody can raise the limit again.
void forbid_core_dumps_for_good();

/// A variable of the environment; none where it is not there, or empty.
[[nodiscard]] std::optional<std::string> environment(const char* name);

/// As many as the system lets us have: for a command that serves many connections and starts no programs, which would
/// inherit the limit, and which select() may break.
inline constexpr std::uint64_t kAllDescriptors = ~std::uint64_t{0};

/// Raises the limit of open descriptors up to `wanted`, as far as the hard limit allows: the usual soft limit suits
/// select() only.
void allow_descriptors(std::uint64_t wanted);

/// The second program, which has libudt in it, for --transport libudt (ADR-0014).
/// If this program lacks the transport, the one beside it that has it takes its place: same process, same words, same
/// environment, same descriptors. Returns in the other case.
/// core_limit_bytes   found by harden_process(), and to be found by that program
/// Call before the key is taken from the environment, and before there are other threads.
/// errors: Errc::bad_argument where there is no such program
[[nodiscard]] Status exec_program_with(TransportKind kind, const std::vector<std::string>& argv,
                                       std::uint64_t core_limit_bytes);

}  // namespace udtcat::tool
