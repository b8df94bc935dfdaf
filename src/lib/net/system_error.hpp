/// The one place where an errno becomes an Error.
#pragma once

#include <string>

#include <udtcat/result.hpp>

namespace udtcat::net {

/// `otherwise` unless the errno says that this host ran out of something.
/// errors: Errc::out_of_resources or `otherwise`, with the system's text as cause
[[nodiscard]] Error system_error(Errc otherwise, std::string what, int errno_value);

}  // namespace udtcat::net
