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
#include "tool/cli/options.hpp"
#include "tool/run/endpoint_setup.hpp"

namespace udtcat::forward {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr const char* kLocalhost = "localhost";

tl::unexpected<Error> bad_service(const std::string& text) {
  return tool::bad_value("--to", text, "[NAME=]HOST:PORT or [NAME=]unix:PATH, as in localhost:80, db=[::1]:5432");
}

tl::unexpected<Error> bad_front(const std::string& text) {
  return tool::bad_value("--from", text, "[ADDR:]PORT[=NAME] or unix:PATH[=NAME], as in 5432, 127.0.0.1:8080=web");
}

bool is_path(std::string_view path) { return !path.empty() && path.size() <= bridge::kMaxUnixPathBytes; }

}  // namespace

Result<ServiceOption> service_value(const std::string& text) {
  ServiceOption service;
  std::string_view place = text;
  if (const auto equals = text.find('='); equals != std::string::npos && !text.starts_with(kUnix)) {
    service.name = text.substr(0, equals);
    if (!is_service_name(service.name)) return bad_service(text);
    place.remove_prefix(equals + 1);
  }
  if (place.starts_with(kUnix)) {
    service.place.unix_path = place.substr(kUnix.size());
    if (!is_path(service.place.unix_path)) return bad_service(text);
    return service;
  }
  auto address = parse_peer(place);
  if (!address || address->port == 0) return bad_service(text);
  service.place.tcp = std::move(*address);
  return service;
}

Result<FrontOption> front_value(const std::string& text) {
  FrontOption front;
  std::string place = text;
  // A path may have "=" in it: of those the last counts, and only before a name.
  const auto equals = text.rfind('=');
  if (equals != std::string::npos && is_service_name(std::string_view(text).substr(equals + 1))) {
    front.service = text.substr(equals + 1);
    place.resize(equals);
  }
  if (place.starts_with(kUnix)) {
    front.place.unix_path = place.substr(kUnix.size());
    if (!is_path(front.place.unix_path)) return bad_front(text);
    return front;
  }
  auto address = parse_local(place);
  if (!address) return bad_front(text);
  front.place.tcp = std::move(*address);
  if (front.place.tcp.host.empty() && !place.starts_with("*")) front.place.tcp.host = kLocalhost;
  return front;
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

std::string shown(const SocketPlace& place) {
  return place.is_unix() ? "unix " + place.unix_path : "tcp " + tool::to_string(place.tcp);
}

Result<std::vector<Service>> resolve_services(const std::vector<ServiceOption>& services, AddressFamily family) {
  std::vector<Service> resolved;
  for (const ServiceOption& each : services) {
    Service service{.name = each.name, .shown = shown(each.place), .address = {{}, each.place.unix_path}};
    boost::system::error_code is_name;
    boost::asio::ip::make_address(each.place.tcp.host, is_name);
    if (!each.place.is_unix() && is_name) service.host = each.place.tcp;
    if (!each.place.is_unix() && !is_name) {
      UDTCAT_TRY(service.address.tcp, resolve(each.place.tcp, family));
    }
    resolved.push_back(std::move(service));
  }
  return resolved;
}

Result<SocketAddress> resolve_front(const FrontOption& front, AddressFamily family) {
  if (front.place.is_unix()) return SocketAddress{{}, front.place.unix_path};
  // spec: RFC 6761 §6.3: nobody need be asked, and some hosts' files have one of the two.
  if (front.place.tcp.host == kLocalhost) {
    SocketAddress loopbacks;
    for (const char* const each : {"127.0.0.1", "::1"})
      if (const auto address = resolve({each, front.place.tcp.port}, family)) loopbacks.tcp.push_back(address->front());
    return loopbacks;
  }
  UDTCAT_TRY(const auto addresses, resolve(front.place.tcp, family));
  return SocketAddress{tool::one_per_family(addresses), {}};
}

}  // namespace udtcat::forward
