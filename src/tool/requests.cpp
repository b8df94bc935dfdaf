// SPDX-License-Identifier: Apache-2.0
#include "tool/requests.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/key_source.hpp"
#include "tool/shell_words.hpp"
#include "tool/terminal_prompt.hpp"

namespace udtcat::tool {

namespace {

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

bool is_global_ipv4(const sockaddr_in& address) {
  const std::uint32_t host = ntohl(address.sin_addr.s_addr);
  const bool this_network = host >> 24U == 0;
  const bool link_local = host >> 16U == 0xa9fe;  // spec: RFC 3927, 169.254/16
  return !this_network && !link_local && !IN_MULTICAST(host) && host != INADDR_BROADCAST;
}

bool is_global_ipv6(const sockaddr_in6& address) {
  const in6_addr& host = address.sin6_addr;
  return !IN6_IS_ADDR_LINKLOCAL(&host) && !IN6_IS_ADDR_MULTICAST(&host) && !IN6_IS_ADDR_V4MAPPED(&host) &&
         !IN6_IS_ADDR_UNSPECIFIED(&host);
}

/// A copy, since the bytes of an Endpoint are no object of that type.
template <typename Address>
Address as(const Endpoint& endpoint) {
  Address address{};
  std::memcpy(&address, endpoint.data(), std::min(sizeof address, endpoint.size_bytes()));
  return address;
}

/// The names as options of the other end, where --as and --peer change places.
std::string names_text(const SessionOptions& session) {
  std::string text;
  if (!session.expected_peer.empty()) text += " --as " + quoted(session.expected_peer);
  if (!session.own_name.empty()) text += " --peer " + quoted(session.own_name);
  return text;
}

}  // namespace

std::vector<Endpoint> one_per_family(const std::vector<Endpoint>& addresses) {
  std::vector<Endpoint> chosen;
  for (const Endpoint& address : addresses) {
    const bool known = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const Endpoint& other) { return other.family() == address.family(); });
    if (!known) chosen.push_back(address);
  }
  return chosen;
}

DialRequest dial_request(const Options& options, std::optional<Credentials> credentials) {
  SessionOptions session = options.session;
  if (credentials && credentials->pair() != nullptr)
    session.expected_peer.clear();  // a name of ours, which the peer need not know
  return {.addresses = {},
          .name = options.peer,
          .family = options.family,
          .peer_name = to_string(options.peer),
          .timeout = options.connect_timeout,
          .closed_port_patience = options.closed_port_patience,
          .credentials = std::move(credentials),
          .session = std::move(session),
          .transport = options.transport};
}

Result<DialRequest> make_dial_request(const Options& options, std::optional<Credentials> credentials) {
  DialRequest request = dial_request(options, std::move(credentials));
  UDTCAT_TRY(request.addresses, resolve(options.peer, options.family));
  return request;
}

Result<ListenRequest> make_listen_request(const Options& options, std::optional<Credentials> credentials) {
  UDTCAT_TRY(const auto addresses, resolve(options.local, options.family));
  ListenRequest request{.locals = one_per_family(addresses),
                        .credentials = std::move(credentials),
                        .session = options.session,
                        .transport = options.transport,
                        .limits = options.limits};
  if (options.transport.single_use) request.limits.peers = request.limits.sessions_per_peer = 1;
  return request;
}

bool is_global_unicast(const Endpoint& address) {
  if (address.is_wildcard() || address.is_loopback()) return false;
  if (address.family() == AddressFamily::ipv4) return is_global_ipv4(as<sockaddr_in>(address));
  return address.family() == AddressFamily::ipv6 && is_global_ipv6(as<sockaddr_in6>(address));
}

std::vector<Endpoint> interface_addresses() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeInterfaces> list(raw);
  std::vector<Endpoint> found;
  for (const ifaddrs* each = list.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const bool ipv6 = each->ifa_addr->sa_family == AF_INET6;
    auto address = Endpoint::from_sockaddr(each->ifa_addr, ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    if (address) found.push_back(*address);
  }
  return found;
}

std::string advertised_host(const std::vector<Endpoint>& locals, const std::vector<Endpoint>& interfaces) {
  for (const Endpoint& local : locals)
    if (!local.is_wildcard()) return local.host_to_string();
  const auto bound = [&](AddressFamily family) {
    return std::any_of(locals.begin(), locals.end(), [&](const Endpoint& local) { return local.family() == family; });
  };
  for (const Endpoint& address : interfaces)
    if (is_global_unicast(address) && bound(address.family())) return address.host_to_string();
  return bound(AddressFamily::ipv4) ? "127.0.0.1" : "::1";
}

std::string invitation(const Options& options, const std::string& host, std::uint16_t port) {
  const SessionOptions& session = options.session;
  const std::string names = names_text(session);
  std::string agreed = names;
  if (session.protection != Protection::private_) agreed += fmt::format(" --protect {}", to_string(session.protection));
  if (session.cipher) agreed += fmt::format(" --cipher {}", to_string(*session.cipher));
  if (!session.sends) agreed += " --send-only";
  if (!session.receives) agreed += " --recv-only";
  return fmt::format(fmt::runtime(options.counterpart), fmt::arg("host", host), fmt::arg("port", port),
                     fmt::arg("names", names), fmt::arg("options", agreed));
}

std::string instruction(const std::vector<Endpoint>& locals) {
  const bool is_local = std::ranges::all_of(locals, &Endpoint::is_loopback);
  return fmt::format("run on {}, where it asks for the key (-k {}: even if it finds another):",
                     is_local ? "this host, as no other reaches it" : "the other host", kTerminal);
}

Status announce_listener(const Options& options, const std::optional<Key>& new_key, const Listener& listener,
                         Console& console) {
  const auto locals = listener.local_endpoints();
  std::string where;
  for (const Endpoint& local : locals) where += (where.empty() ? "" : " and ") + local.to_string();
  const std::string listening = "listening on " + where;
  if (!new_key) {
    // The user cannot know a port that the system chose.
    if (options.local.port == 0)
      console.line("udtcat: " + listening);
    else
      core::log().info("{}", listening);
    return {};
  }
  // First: without a terminal to show the key on there is no listener.
  const core::SecretText text(new_key->reveal_text());
  UDTCAT_CHECK(show_on_terminal("Key, shown only here: ", text));
  console.line(fmt::format("udtcat: {}; {}", listening, instruction(locals)));
  const std::uint16_t port = locals.empty() ? options.local.port : locals.front().port();
  console.line(invitation(options, advertised_host(locals, interface_addresses()), port));
  return {};
}

}  // namespace udtcat::tool
