/// The second program, with libudt in it, for who asks for libudt (ADR-0014).
#pragma once

#include <cstdint>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::tool {

/// Where this program does not have the transport, the one beside it that does takes its place: same process, same words, same
/// environment, same descriptors. Returns in the other case.
/// core_limit_bytes   what harden_process() found, and what that program is to find
/// Call before the key is taken from the environment, and before there are other threads.
/// errors: Errc::bad_argument where there is no such program
[[nodiscard]] Status become_program_with(TransportKind kind, const char* const* argv, std::uint64_t core_limit_bytes);

}  // namespace udtcat::tool
