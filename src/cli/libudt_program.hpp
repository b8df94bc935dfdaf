/// The second program, with libudt in it, for who asks for libudt (ADR-0014).
#pragma once

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::cli {

/// Where this program does not have the transport, the one beside it that does takes its place: same process, same words, same
/// environment. Returns in the other case.
/// Call before the key is taken from the environment, and before there are other threads.
/// errors: Errc::bad_argument where there is no such program
[[nodiscard]] Status become_program_with(TransportKind kind, const char* const* argv);

}  // namespace udtcat::cli
