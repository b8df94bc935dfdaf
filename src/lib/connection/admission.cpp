// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/admission.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::connection {
namespace {

constexpr const char* kControlGroups = "/sys/fs/cgroup";
constexpr const char* kOwnControlGroup = "/proc/self/cgroup";
constexpr std::uint64_t kUnknownHostBytes = 1'073'741'824;  // guess: a small host, where the system does not say

std::optional<std::uint64_t> limit_in(const std::filesystem::path& control_group) {
  std::string text;
  std::ifstream(control_group / "memory.max") >> text;
  return core::parse_number<std::uint64_t>(text);  // "max": none
}

/// The least of our control group and those around it.  source: Linux, Documentation/admin-guide/cgroup-v2.rst
std::uint64_t control_group_memory_bytes() {
  std::string line;
  std::getline(std::ifstream(kOwnControlGroup), line, '\n');
  std::uint64_t least = limit_in(kControlGroups).value_or(UINT64_MAX);
  const auto path = line.starts_with("0::/") ? std::filesystem::path(line.substr(4)) : std::filesystem::path();
  for (auto group = path; !group.empty(); group = group.parent_path())
    least = std::min(least, limit_in(kControlGroups / group).value_or(UINT64_MAX));
  return least;
}

std::uint64_t host_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  if (pages <= 0) return kUnknownHostBytes;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
}

CountedPeer counted(const Endpoint& peer, const std::optional<PeerIdentity>& identity) {
  if (identity) return identity->key;
  return core::host_of(peer);
}

tl::unexpected<Error> too_many(const Endpoint& peer, std::string cause, const char* of_what = "session") {
  return fail(Errc::out_of_resources, fmt::format("take a {} of {}", of_what, peer.to_string()), std::move(cause));
}

}  // namespace

std::uint64_t process_memory_bytes() { return std::min(control_group_memory_bytes(), host_memory_bytes()); }

Status Admission::room_for(const Endpoint& peer, const std::optional<PeerIdentity>& identity,
                           std::uint64_t share_bytes) const {
  const auto known = held_.find(counted(peer, identity));
  const PeerShare own = known == held_.end() ? PeerShare() : known->second;
  if (own.sessions == 0 && held_.size() >= limits_.peers)
    return too_many(peer, fmt::format("there are {} already", core::format_count(limits_.peers, "peer")));
  if (own.sessions >= limits_.sessions_per_peer)
    return too_many(peer, fmt::format("it has {} already", core::format_count(own.sessions, "session")));
  return memory_for(peer, own, share_bytes);
}

Status Admission::memory_for(const Endpoint& peer, const PeerShare& own, std::uint64_t share_bytes) const {
  if (is_sole_) return {};
  // A first session may have what there is: the least share can be more than a peer's part of a small total.
  if (own.sessions > 0 && own.promised_bytes + share_bytes > total_of_peer_bytes_)
    return too_many(peer, "all memory for one peer is promised to its other sessions");
  if (promised_bytes_ + share_bytes > total_bytes_)
    return too_many(peer, "all memory for sessions is promised to others");
  return {};
}

Result<Admission::Slot> Admission::enter(const std::shared_ptr<Admission>& at, const Endpoint& peer,
                                         const std::optional<PeerIdentity>& identity, std::uint64_t share_bytes) {
  UDTCAT_CHECK(at->room_for(peer, identity, share_bytes));
  return promise(at, counted(peer, identity), 1, share_bytes);
}

Result<Admission::Slot> Admission::enter_flow(const std::shared_ptr<Admission>& at, const Endpoint& peer,
                                              const std::optional<PeerIdentity>& identity, std::uint64_t share_bytes) {
  const CountedPeer counts_as = counted(peer, identity);
  const auto known = at->held_.find(counts_as);
  const PeerShare own = known == at->held_.end() ? PeerShare() : known->second;
  if (!at->memory_for(peer, own, share_bytes)) return too_many(peer, "all memory for it is promised", "further flow");
  return promise(at, counts_as, 0, share_bytes);
}

Admission::Slot Admission::promise(const std::shared_ptr<Admission>& at, const CountedPeer& peer, std::size_t sessions,
                                   std::uint64_t share_bytes) {
  PeerShare& held = at->held_[peer];
  held.sessions += sessions;
  held.promised_bytes += share_bytes;
  at->promised_bytes_ += share_bytes;
  return {at, peer, sessions, share_bytes};
}

void Admission::leave(const CountedPeer& peer, std::size_t sessions, std::uint64_t share_bytes) {
  promised_bytes_ -= share_bytes;
  const auto known = held_.find(peer);
  known->second.promised_bytes -= share_bytes;
  known->second.sessions -= sessions;
  // The channels of a session may outlast its place.
  if (known->second.sessions == 0 && known->second.promised_bytes == 0) held_.erase(known);
}

}  // namespace udtcat::connection
