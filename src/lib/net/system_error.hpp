// SPDX-License-Identifier: Apache-2.0
/// An errno of a network call as an Error: of this host's resources, or of what was tried.
#pragma once

#include <cerrno>
#include <string>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::net {

/// Fails with `otherwise`, unless the errno says that this host ran out of something.
/// errors: Errc::out_of_resources or `otherwise`, with the system's text as cause
[[nodiscard]] inline tl::unexpected<Error> system_error(Errc otherwise, std::string what, int errno_value) {
  const bool ran_out =
      errno_value == EMFILE || errno_value == ENFILE || errno_value == ENOMEM || errno_value == ENOBUFS;
  return core::fail_by_errno(ran_out ? Errc::out_of_resources : otherwise, std::move(what), errno_value);
}

}  // namespace udtcat::net
