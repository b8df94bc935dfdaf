// SPDX-License-Identifier: Apache-2.0
/// The directories in which processes of this host have their status sockets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <udtcat/result.hpp>

namespace udtcat::tool {

/// Directories of the host. Others than these are for tests.
struct StatusRoots {
  std::string services = "/run/udtcat";  // spec: FHS 3.0, /run
  std::string users = "/run/user";       // spec: pam_systemd(8), XDG_RUNTIME_DIR
  std::string everybody = "/tmp";        // spec: FHS 3.0, /tmp
};

/// The socket of this process: "DIRECTORY/PID.sock". The directory is made where there is none: $RUNTIME_DIRECTORY,
/// which a service manager gives; else udtcat in $XDG_RUNTIME_DIR, if that is this user's; else, for root, /run/udtcat;
/// else udtcat in /run/user/UID, if that is this user's; else /tmp/udtcat-UID, which nobody else may have a right to.
/// errors: Errc::cannot_bind: it cannot be made, or is another user's or open to others
[[nodiscard]] Result<std::string> own_status_socket(const StatusRoots& roots = {});

/// The directory above `path` that keeps members of the group, who are not its owner, from it; none: they reach it.
[[nodiscard]] std::optional<std::string> directory_closed_to(const std::string& path, gid_t group);

inline constexpr std::size_t kMaxStatusSockets = 768;  // guess: far more than a host runs, and below 1024 descriptors
inline constexpr std::size_t kMaxSocketsOfDirectory = 256;  // guess: no user hides the others with his two

/// Those of every service and every user, those in /tmp of this user, for root of all, kMaxStatusSockets at most, and
/// kMaxSocketsOfDirectory of one directory; some may be left over, or not for this user.
[[nodiscard]] std::vector<std::string> status_sockets(const StatusRoots& roots = {});

/// Whether a process at that socket has the name that it says: root or a service manager gave it its place, or it is of
/// this user. Any user may call a process of his by the name of a service.
[[nodiscard]] bool is_place_of_services(const std::string& path, const StatusRoots& roots = {});

/// Removes a socket that is left over: its process has died. One that somebody listens at stays.
/// returns   whether it is removed
bool remove_left_over(const std::string& path);

}  // namespace udtcat::tool
