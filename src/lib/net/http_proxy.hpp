// SPDX-License-Identifier: Apache-2.0
/// The dialogue with an HTTP proxy that is to connect for us (RFC 9110 §9.3.6, RFC 9112). No input or output here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::net {

inline constexpr std::size_t kMaxProxyAnswerBytes = 16 * kKiB;  // guess: proxies' headers have a few hundred

/// "http://[USER:PASSWORD@]HOST:PORT[/]", or without "http://"; bytes of user and password may be %XX. Total.
/// errors: Errc::bad_argument, without the password in it
[[nodiscard]] Result<HttpProxy> parse_proxy(std::string_view url);
/// "intranet.example,.example.org,192.0.2.1,10.0.0.0/8,*": names with all below them, addresses, prefixes. Total.
[[nodiscard]] std::vector<std::string> parse_proxy_exceptions(std::string_view list);
/// Whether connections to that host go by the proxy: not to this host itself, nor where an exception has it.
[[nodiscard]] bool goes_by(const HttpProxy& proxy, std::string_view host);

/// "proxy.example.org:3128", for people.
[[nodiscard]] std::string to_string(const HttpProxy& proxy);

[[nodiscard]] std::string connect_request(const HttpProxy& proxy, const HostPort& target);

struct ProxyAnswer {
  enum class State { incomplete, malformed, complete };
  State state = State::incomplete;
  int status = 0;                ///< if complete, as the others
  std::string reason{};          ///< as it came
  std::size_t header_bytes = 0;  ///< that belong to the answer
  [[nodiscard]] bool is_connected() const { return status >= 200 && status < 300; }
};
/// Total. Interim answers (1xx) are passed over. Malformed too where it has more than kMaxProxyAnswerBytes.
[[nodiscard]] ProxyAnswer decode_proxy_answer(std::span<const std::byte> bytes);

/// How refusal_text() begins where it makes no sense to ask again.
inline constexpr std::string_view kProxyRefuses = "the proxy refuses: ";
/// The cause of a failure, and what would help.
[[nodiscard]] std::string refusal_text(const HttpProxy& proxy, const HostPort& target, const ProxyAnswer& answer);

}  // namespace udtcat::net
