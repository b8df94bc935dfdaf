/// The one place where libudt's errors become ours.
#pragma once

#include <string>

#include <udtcat/result.hpp>

namespace udtcat::transport::libudt {

/// The last error of libudt in this thread. libudt reports the end of a connection, its breaking and a socket that its
/// garbage collector has already taken alike; all are Errc::connection_broken here.
/// errors: Errc::connection_broken, Errc::out_of_resources, else `otherwise`
[[nodiscard]] Error last_error(Errc otherwise, std::string what);
/// Nothing failed: a blocking call came back at its time limit, or a non-blocking one had nothing to say.
[[nodiscard]] bool last_error_is_try_again();
/// The garbage collector has taken the socket, with whatever nobody had read.
[[nodiscard]] bool last_error_is_no_socket();

}  // namespace udtcat::transport::libudt
