// SPDX-License-Identifier: Apache-2.0
#include "ssh/candidates.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <boost/asio/ip/address.hpp>

#include "lib/core/text.hpp"
#include "lib/net/interface_addresses.hpp"

namespace udtcat::ssh {

namespace {

/// The inodes of a process's sockets, as its descriptors' links name them: "socket:[1234]".
std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> inodes;
  std::error_code error;
  constexpr std::string_view kPrefix = "socket:[";
  for (std::filesystem::directory_iterator each(fmt::format("/proc/{}/fd", pid), error), end; !error && each != end;
       each.increment(error)) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(each->path(), gone).string();
    if (!gone && target.starts_with(kPrefix))
      inodes.insert(target.substr(kPrefix.size(), target.size() - kPrefix.size() - 1));
  }
  return inodes;
}

/// "0100007F:1F90": the address as the kernel prints it, each 32-bit word in the host's byte order.
Result<Endpoint> parse_proc_address(std::string_view text) {
  const auto malformed = [&] { return fail(Errc::bad_argument, fmt::format("address {} in /proc", text)); };
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return malformed();
  const auto port = core::parse_number<std::uint16_t>(text.substr(colon + 1), 16);
  if (!port) return malformed();
  constexpr std::size_t kWordDigits = 8;
  std::array<std::uint32_t, 4> words{};
  const std::size_t count = colon / kWordDigits;
  if (colon % kWordDigits != 0 || (count != 1 && count != words.size())) return malformed();
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = core::parse_number<std::uint32_t>(text.substr(i * kWordDigits, kWordDigits), 16);
    if (!word) return malformed();
    words[i] = *word;
  }
  if (count == 1) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(*port);
    address.sin_addr.s_addr = words[0];
    return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(*port);
  std::memcpy(&address.sin6_addr, words.data(), sizeof words);
  return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// The peer of a connection from `own`, with the scope of our own address where it is link-local: the table has none.
Endpoint with_scope_of(const Endpoint& peer, const Endpoint& own) {
  sockaddr_in6 address{};
  if (peer.family() != AddressFamily::ipv6) return peer;
  std::memcpy(&address, peer.data(), sizeof address);
  if (!IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) return peer;
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) != 0) return peer;
  for (const ifaddrs* each = interfaces; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6) continue;
    sockaddr_in6 its{};
    std::memcpy(&its, each->ifa_addr, sizeof its);
    if (std::memcmp(&its.sin6_addr, &reinterpret_cast<const sockaddr_in6*>(own.data())->sin6_addr,
                    sizeof its.sin6_addr) == 0)
      address.sin6_scope_id = ::if_nametoindex(each->ifa_name);  // its own may be a global address, which has none
  }
  ::freeifaddrs(interfaces);
  return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address), sizeof address).value_or(peer);
}

/// Adds the peers of those connections in a table of /proc/PID/net that are established and whose inode is in
/// `sockets`.
void add_peers(const std::string& table, const std::set<std::string>& sockets, std::vector<Endpoint>& peers) {
  std::ifstream lines(table);
  std::string line;
  std::getline(lines, line);  // the headings
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
    if (state != "01" || !sockets.contains(inode)) continue;
    const auto peer = parse_proc_address(remote);
    const auto own = parse_proc_address(local);
    if (peer && own) peers.push_back(with_scope_of(*peer, *own));
  }
}

}  // namespace

std::vector<Endpoint> dialled_addresses(pid_t pid) {
  const auto sockets = sockets_of(pid);
  std::vector<Endpoint> peers;
  for (const char* table : {"tcp", "tcp6"}) add_peers(fmt::format("/proc/{}/net/{}", pid, table), sockets, peers);
  return peers;
}

std::vector<Endpoint> host_candidates(std::uint16_t port) {
  std::vector<Endpoint> found;
  for (const Endpoint& each : net::interface_addresses())
    if (net::is_global_unicast(each) && found.size() < kMaxCandidates) found.push_back(each.with_port(port));
  return found;
}

std::string to_text(const std::vector<Endpoint>& candidates) {
  std::string text;
  for (const Endpoint& each : candidates) text += (text.empty() ? "" : ",") + each.host_to_string();
  return text.empty() ? "-" : text;
}

std::vector<Endpoint> parse_candidates(std::string_view text, std::uint16_t port) {
  std::vector<Endpoint> found;
  while (!text.empty() && found.size() < kMaxCandidates) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    boost::system::error_code not_numeric;
    const auto address = boost::asio::ip::make_address(std::string(word.substr(0, word.find('%'))), not_numeric);
    if (not_numeric || (address.is_v6() && address.to_v6().is_link_local()))
      continue;  // nobody makes us ask a resolver
    const auto named = resolve({address.to_string(), port}, AddressFamily::any);
    if (named && !named->empty()) found.push_back(named->front());
  }
  return found;
}

Candidate as_candidate(const Endpoint& address, const std::vector<Endpoint>& hosts) {
  const bool is_host = std::ranges::find(hosts, address) != hosts.end();
  return {is_host ? Candidate::Kind::host : Candidate::Kind::server_reflexive, address};
}

std::vector<Endpoint> each_once(const std::vector<Endpoint>& candidates) {
  std::vector<Endpoint> once;
  for (const Endpoint& candidate : candidates)
    if (std::find(once.begin(), once.end(), candidate) == once.end()) once.push_back(candidate);
  return once;
}

}  // namespace udtcat::ssh
