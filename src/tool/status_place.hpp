// SPDX-License-Identifier: Apache-2.0
/// The directories in which processes of this host have their status sockets.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace udtcat::tool {

/// Of this process: "DIRECTORY/PID.sock". The directory is made where there is none: $RUNTIME_DIRECTORY, which a
/// service manager gives; else udtcat in $XDG_RUNTIME_DIR, if that is this user's; else, for root, /run/udtcat.
/// returns   none where there is no such place, or it is another user's or open to others
[[nodiscard]] std::optional<std::string> own_status_socket();

/// All that there are, of every user and every service; some may be left over, or not for this user.
[[nodiscard]] std::vector<std::string> status_sockets();

/// Removes a socket that is left over: its process has died. One that somebody listens at stays.
/// returns   whether nobody listens there
bool remove_left_over(const std::string& path);

}  // namespace udtcat::tool
