// SPDX-License-Identifier: Apache-2.0
#include "lib/net/http_proxy.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"

namespace udtcat::net {

namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kMaxCredentialBytes = 512;  // guess: longer ones are nobody's
constexpr int kUnauthorized = 401;                // spec: RFC 9110 §15.5.2; what tinyproxy says of a wrong password
constexpr int kForbidden = 403;                   // spec: RFC 9110 §15.5.4
constexpr int kMethodNotAllowed = 405;            // spec: RFC 9110 §15.5.6
constexpr int kProxyAuthentication = 407;         // spec: RFC 9110 §15.5.8
constexpr int kFirstOfServers = 500;              // spec: RFC 9110 §15.6
constexpr std::uint16_t kHttpsPort = 443;         // spec: RFC 9110 §4.2.2

/// Names are the same whose letters differ in case alone.
char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](char c) { return lowered(c); });
  return made;
}

/// With %XX as the byte that it names. None: malformed, or with a byte that would end a line or begin another.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char byte = text[at];
    if (byte == '%') {
      const std::string_view digits = text.substr(at + 1, 2);
      std::uint8_t value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
      if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
      byte = static_cast<char>(value);
      at += 2;
    }
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) return std::nullopt;
    bytes.push_back(byte);
  }
  return bytes;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text.push_back(i <= count ? kDigits[group >> (18 - 6 * i) & 0x3fU] : '=');
  }
  return text;
}

std::optional<boost::asio::ip::address> address_in(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(text), error);
  return error ? std::nullopt : std::optional(address);
}

/// prefix   "10.0.0.0/8", "192.0.2.1"
bool covers(std::string_view prefix, const boost::asio::ip::address& address) {
  namespace ip = boost::asio::ip;
  if (const auto single = address_in(prefix)) return *single == address;
  boost::system::error_code error;
  if (address.is_v4()) {
    const auto network = ip::make_network_v4(std::string(prefix), error);
    return !error && ip::network_v4(address.to_v4(), network.prefix_length()).canonical() == network.canonical();
  }
  const auto network = ip::make_network_v6(std::string(prefix), error);
  return !error && ip::network_v6(address.to_v6(), network.prefix_length()).canonical() == network.canonical();
}

bool is_excepted(std::string_view exception, const std::string& host,
                 const std::optional<boost::asio::ip::address>& address) {
  if (exception == "*") return true;
  if (address) return covers(exception, *address);
  std::string name = lowered(exception);
  if (name.starts_with('*')) name.erase(0, 1);
  if (name.starts_with('.')) name.erase(0, 1);
  return !name.empty() && (host == name || host.ends_with("." + name));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "HTTP/1.1 200 Connection established". None: malformed.
std::optional<ProxyAnswer> decode_status_line(std::string_view line) {
  constexpr std::string_view kBeginning = "HTTP/1.";
  if (line.size() < kBeginning.size() + 5 || !line.starts_with(kBeginning)) return std::nullopt;
  line.remove_prefix(kBeginning.size());
  if (!is_digit(line[0]) || line[1] != ' ') return std::nullopt;
  line.remove_prefix(2);
  if (!std::ranges::all_of(line.substr(0, 3), is_digit) || line[0] == '0') return std::nullopt;
  if (line.size() > 3 && line[3] != ' ') return std::nullopt;
  ProxyAnswer answer{.state = ProxyAnswer::State::complete};
  for (const char digit : line.substr(0, 3)) answer.status = 10 * answer.status + (digit - '0');
  if (line.size() > 4) answer.reason = line.substr(4);
  return answer;
}

/// Where the empty line behind a header ends; none: it is not there yet. Lines may end without CR (RFC 9112 §2.2).
std::optional<std::size_t> header_end(std::string_view text) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (rest.starts_with('\n')) return at + 2;
    if (rest.starts_with("\r\n")) return at + 3;
  }
  return std::nullopt;
}

}  // namespace

Result<HttpProxy> parse_proxy(std::string_view url) {
  const auto refuse = [](const char* why) { return fail(Errc::bad_argument, "read the URL of a proxy", why); };
  if (lowered(url.substr(0, kScheme.size())) == kScheme)
    url.remove_prefix(kScheme.size());
  else if (url.find("://") != std::string_view::npos)
    return refuse("only proxies by http:// are known: http://[USER:PASSWORD@]HOST:PORT");
  HttpProxy proxy;
  if (const auto at = url.rfind('@'); at != std::string_view::npos) {
    auto credentials = percent_decoded(url.substr(0, at));
    if (!credentials || credentials->size() > kMaxCredentialBytes || url.substr(0, at).find(':') == std::string::npos)
      return refuse("before the @ is not USER:PASSWORD, with %XX where a byte has a meaning of its own");
    proxy.credentials = std::move(*credentials);
    url.remove_prefix(at + 1);
  }
  if (url.ends_with('/')) url.remove_suffix(1);
  auto at = parse_peer(url);
  if (!at) return refuse("it is not http://[USER:PASSWORD@]HOST:PORT");
  proxy.at = std::move(*at);
  return proxy;
}

std::vector<std::string> parse_proxy_exceptions(std::string_view list) {
  std::vector<std::string> exceptions;
  while (!list.empty()) {
    const auto end = std::min(list.find_first_of(", "), list.size());
    if (end > 0) exceptions.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return exceptions;
}

bool goes_by(const HttpProxy& proxy, std::string_view host) {
  const std::string name = lowered(host);
  const auto address = address_in(name);
  if (name == "localhost" || (address && address->is_loopback())) return false;
  return std::ranges::none_of(proxy.exceptions,
                              [&](const std::string& each) { return is_excepted(each, name, address); });
}

std::string to_string(const HttpProxy& proxy) { return udtcat::to_string(proxy.at); }

std::string connect_request(const HttpProxy& proxy, const HostPort& target) {
  const std::string where = to_string(target);
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", where);
  if (!proxy.credentials.empty())
    request += fmt::format("Proxy-Authorization: Basic {}\r\n", base64(proxy.credentials));
  return request + "\r\n";
}

ProxyAnswer decode_proxy_answer(std::span<const std::byte> bytes) {
  constexpr std::string_view kBeginning = "HTTP/1.";
  const std::string_view text = core::as_text(bytes.first(std::min(bytes.size(), kMaxProxyAnswerBytes)));
  const bool is_too_long = bytes.size() > kMaxProxyAnswerBytes;
  std::size_t begin = 0;
  for (;;) {
    const std::string_view rest = text.substr(begin);
    const auto beginning = rest.substr(0, kBeginning.size());
    if (beginning != kBeginning.substr(0, beginning.size())) return {.state = ProxyAnswer::State::malformed};
    const auto end = header_end(rest);
    if (!end) return {.state = is_too_long ? ProxyAnswer::State::malformed : ProxyAnswer::State::incomplete};
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto answer = decode_status_line(line);
    if (!answer) return {.state = ProxyAnswer::State::malformed};
    begin += *end;
    answer->header_bytes = begin;
    if (answer->status >= 200) return *answer;
  }
}

std::string refusal_text(const HttpProxy& proxy, const HostPort& target, const ProxyAnswer& answer) {
  std::string text = fmt::format("{} answers {} to a connection to {}", to_string(proxy),
                                 core::printable(fmt::format("{} {}", answer.status, answer.reason), core::kShownBytes),
                                 to_string(target));
  text = answer.status < kFirstOfServers ? std::string(kProxyRefuses) + text : "the proxy " + text;
  if (answer.status == kProxyAuthentication || answer.status == kUnauthorized)
    text += proxy.credentials.empty() ? "; it wants a user: --proxy http://USER:PASSWORD@HOST:PORT"
                                      : "; it does not take this user and password";
  else if ((answer.status == kForbidden || answer.status == kMethodNotAllowed) && target.port != kHttpsPort)
    text += "; proxies often let port 443 through only: listen there (udtcat meet -l 443, --via HOST:443)";
  else if (answer.status >= kFirstOfServers)
    text += "; it does not get there: does anything listen?";
  return text;
}

}  // namespace udtcat::net
