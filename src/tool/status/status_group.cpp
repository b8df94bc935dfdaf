// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_group.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/core/text.hpp"

namespace udtcat::tool {

namespace {

std::optional<gid_t> number_of_group(const std::string& name) {
  const ::group* const known = ::getgrnam(name.c_str());  // the main thread alone asks, before there are peers
  return known != nullptr ? std::optional(known->gr_gid) : core::parse_number<gid_t>(name);
}

}  // namespace

Result<gid_t> find_own_group(std::string_view option, const std::string& group) {
  const std::string what = fmt::format("{} \"{}\"", option, group);
  const auto number = number_of_group(group);
  constexpr gid_t kNone = static_cast<gid_t>(-1);  // spec: chown(2)
  if (!number || *number == kNone)
    return fail(Errc::bad_argument, what, "this host has no such group; getent group lists those that it has");
  if (::geteuid() != 0 && ::group_member(*number) == 0)
    return fail(Errc::bad_argument, what,
                "this user is not in that group, so may not open anything to it; in a unit Group= makes it so, for a "
                "user usermod -aG and a new login");
  return *number;
}

bool is_peer_in_group(int socket, gid_t group) {
  std::vector<gid_t> groups;
  socklen_t bytes = 0;
  // The system says how many there are where there is no room for them.
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &bytes) == 0) return false;
  groups.resize(bytes / sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) return false;
  groups.resize(bytes / sizeof(gid_t));
  return std::ranges::find(groups, group) != groups.end();
}

}  // namespace udtcat::tool
