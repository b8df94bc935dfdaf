// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/proxy_choice.hpp"

#include <cstdlib>
#include <utility>

#include "lib/core/log.hpp"
#include "lib/net/http_proxy.hpp"

namespace udtcat::tool {

namespace {

std::optional<std::string> variable(const char* name, const char* other_name) {
  for (const char* const each : {name, other_name})
    if (const char* const value = std::getenv(each); value != nullptr && *value != '\0') return value;
  return std::nullopt;
}

}  // namespace

ProxyEnvironment proxy_environment() {
  return {.proxy = variable("https_proxy", "HTTPS_PROXY"), .no_proxy = variable("no_proxy", "NO_PROXY")};
}

Result<std::shared_ptr<const HttpProxy>> choose_proxy(const std::string& written, const ProxyEnvironment& environment) {
  if (written == "none" || (written.empty() && !environment.proxy)) return nullptr;
  auto parsed = net::parse_proxy(written.empty() ? *environment.proxy : written);
  if (!parsed && !written.empty()) return fail(Errc::bad_argument, "--proxy", parsed.error().cause);
  if (!parsed) {
    core::log().warn("https_proxy is not used: {}", parsed.error().cause);
    return nullptr;
  }
  if (environment.no_proxy) parsed->exceptions = net::parse_proxy_exceptions(*environment.no_proxy);
  return std::make_shared<const HttpProxy>(std::move(*parsed));
}

bool is_found_by_proxy(const Options& options, const std::string& host) {
  const TransportKind kind = options.transport.kind;
  const bool by_tcp = kind == TransportKind::automatic || kind == TransportKind::tcp;
  return by_tcp && options.transport.proxy && net::goes_by(*options.transport.proxy, host);
}

std::string without_password(std::string command_line, const std::string& proxy) {
  const auto scheme = proxy.find("://");
  const auto begin = scheme == std::string::npos ? 0 : scheme + 3;
  const auto end = proxy.rfind('@');
  if (end == std::string::npos || end <= begin) return command_line;
  const std::string secret = proxy.substr(begin, end - begin);
  const auto at = command_line.find(secret);
  // Where it is quoted for the shell it looks otherwise: nothing is shown then.
  if (at == std::string::npos) return command_line.substr(0, command_line.find(' '));
  return command_line.replace(at, secret.size(), "...");
}

}  // namespace udtcat::tool
