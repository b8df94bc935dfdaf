// SPDX-License-Identifier: Apache-2.0
#include "forward/forward_options.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>

#include <udtcat/options.hpp>

#include "lib/bridge/unix_socket.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/command_line.hpp"
#include "tool/run/endpoint_setup.hpp"

namespace udtcat::forward {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr const char* kLocalhost = "localhost";

tl::unexpected<Error> bad_service(const std::string& text) {
  return tool::bad_value("--to", text, "[NAME=]HOST:PORT or [NAME=]unix:PATH, as in localhost:80, db=[::1]:5432");
}

tl::unexpected<Error> bad_listener(const std::string& text) {
  return tool::bad_value("--from", text, "[ADDR:]PORT[=NAME] or unix:PATH[=NAME], as in 5432, 127.0.0.1:8080=web");
}

bool is_path(std::string_view path) { return !path.empty() && path.size() <= bridge::kMaxUnixPathBytes; }

}  // namespace

Result<ServiceOption> service_value(const std::string& text) {
  ServiceOption service;
  std::string_view written = text;
  if (const auto equals = text.find('='); equals != std::string::npos && !text.starts_with(kUnix)) {
    service.name = text.substr(0, equals);
    if (!is_service_name(service.name)) return bad_service(text);
    written.remove_prefix(equals + 1);
  }
  if (written.starts_with(kUnix)) {
    service.address.unix_path = written.substr(kUnix.size());
    if (!is_path(service.address.unix_path)) return bad_service(text);
    return service;
  }
  auto address = parse_peer(written);
  if (!address || address->port == 0) return bad_service(text);
  service.address.tcp = std::move(*address);
  return service;
}

Result<LocalListenerOption> local_listener_value(const std::string& text) {
  LocalListenerOption listener;
  std::string written = text;
  // A path may have "=" in it: of those the last counts, and only before a name.
  const auto equals = text.rfind('=');
  if (equals != std::string::npos && is_service_name(std::string_view(text).substr(equals + 1))) {
    listener.service = text.substr(equals + 1);
    written.resize(equals);
  }
  if (written.starts_with(kUnix)) {
    listener.address.unix_path = written.substr(kUnix.size());
    if (!is_path(listener.address.unix_path)) return bad_listener(text);
    return listener;
  }
  auto address = parse_local(written);
  if (!address) return bad_listener(text);
  listener.address.tcp = std::move(*address);
  if (listener.address.tcp.host.empty() && !written.starts_with("*")) listener.address.tcp.host = kLocalhost;
  return listener;
}

Status check_services(const std::vector<ServiceOption>& services) {
  if (services.size() > kMaxServices)
    return tool::misplaced("--to", fmt::format("allowed: {} of them, {} were given", kMaxServices, services.size()));
  for (auto each = services.begin(); each != services.end(); ++each)
    if (std::find_if(services.begin(), each, [&](const auto& other) { return other.name == each->name; }) != each)
      return tool::misplaced("--to", each->name.empty() ? "allowed: one without a name; the others are NAME=HOST:PORT"
                                                        : fmt::format("allowed: one of the name {}", each->name));
  return {};
}

void leave_tcp_port_to_its_user(ForwardOptions& options) {
  if (!options.listens || options.local.port == 0 || options.transport.kind != TransportKind::automatic) return;
  const auto has_it = [&](const auto& each) {
    if (each.address.is_unix() || each.address.tcp.port != options.local.port) return false;
    boost::system::error_code is_name;
    const auto literal = boost::asio::ip::make_address(each.address.tcp.host, is_name);
    return is_name ? each.address.tcp.host.empty() || each.address.tcp.host == kLocalhost : literal.is_loopback();
  };
  if (std::ranges::any_of(options.services, has_it) || std::ranges::any_of(options.listeners, has_it))
    options.transport.kind = TransportKind::native;
}

std::string shown(const SocketSpec& address) {
  return address.is_unix() ? "unix " + address.unix_path : "tcp " + to_string(address.tcp);
}

Result<std::vector<Service>> resolve_services(const std::vector<ServiceOption>& services, AddressFamily family) {
  std::vector<Service> resolved;
  for (const ServiceOption& each : services) {
    Service service{.name = each.name, .shown = shown(each.address), .address = {{}, each.address.unix_path}};
    boost::system::error_code is_name;
    boost::asio::ip::make_address(each.address.tcp.host, is_name);
    if (!each.address.is_unix() && is_name) service.host = each.address.tcp;
    if (!each.address.is_unix() && !is_name) {
      UDTCAT_TRY(service.address.tcp, resolve(each.address.tcp, family));
    }
    resolved.push_back(std::move(service));
  }
  return resolved;
}

Result<SocketAddress> resolve_local_listener(const LocalListenerOption& listener, AddressFamily family) {
  if (listener.address.is_unix()) return SocketAddress{{}, listener.address.unix_path};
  // spec: RFC 6761 §6.3: no resolver is asked, as some /etc/hosts have only one of the two addresses.
  if (listener.address.tcp.host == kLocalhost) {
    SocketAddress loopbacks;
    for (const char* const each : {"127.0.0.1", "::1"})
      if (const auto address = resolve({each, listener.address.tcp.port}, family))
        loopbacks.tcp.push_back(address->front());
    return loopbacks;
  }
  UDTCAT_TRY(const auto addresses, resolve(listener.address.tcp, family));
  return SocketAddress{tool::one_per_family(addresses), {}};
}

}  // namespace udtcat::forward
