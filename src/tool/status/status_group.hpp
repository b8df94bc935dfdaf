// SPDX-License-Identifier: Apache-2.0
/// Groups of this host's users, one of which may ask for the status.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include <udtcat/result.hpp>

namespace udtcat::tool {

/// A group by its name, or else its number.
/// option   that names it, for errors
/// errors   Errc::bad_argument: there is none, or this user may not give it anything, as he is not in it
[[nodiscard]] Result<gid_t> find_own_group(std::string_view option, const std::string& group);

/// Whether the process at the other end of a Unix socket has the group among its supplementary ones.
[[nodiscard]] bool is_peer_in_group(int socket, gid_t group);

}  // namespace udtcat::tool
