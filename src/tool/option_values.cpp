#include "tool/option_values.hpp"

#include <charconv>
#include <limits>

#include <udtcat/options.hpp>
#include <udtcat/units.hpp>

namespace udtcat::tool {

namespace {

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || text.empty()) return std::nullopt;
  return number;
}

/// As a user would write it.
std::string size_text(std::size_t bytes) {
  if (bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  return bytes % kMiB == 0 ? fmt::format("{}MiB", bytes / kMiB) : fmt::format("{}KiB", bytes / kKiB);
}

std::string seconds_text(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{}s", time.count() / 1000) : fmt::format("{}ms", time.count());
}

constexpr std::size_t kMaxPort = std::numeric_limits<std::uint16_t>::max();

}  // namespace

Result<std::size_t> number_value(std::string_view option, const std::string& text, std::size_t least,
                                 std::size_t most) {
  const auto number = whole_number(text);
  if (number && *number >= least && *number <= most) return *number;
  return bad_value(option, text, fmt::format("{} to {}", least, most));
}

Result<std::size_t> size_value(std::string_view option, const std::string& text, std::size_t least, std::size_t most) {
  const auto size = parse_size(text);
  if (size && *size >= least && *size <= most) return static_cast<std::size_t>(*size);
  return bad_value(
      option, text,
      fmt::format("{} to {}, written in bytes or with KiB, MiB or GiB", size_text(least), size_text(most)));
}

Result<std::chrono::milliseconds> duration_value(std::string_view option, const std::string& text,
                                                 std::chrono::milliseconds least) {
  const auto time = parse_duration(text);
  if (time && *time >= least) return *time;
  return bad_value(
      option, text,
      fmt::format("{} or more, up to 365 days, written in seconds or with ms, s or m", seconds_text(least)));
}

Result<std::string> end_name_value(std::string_view option, const std::string& text) {
  if (is_end_name(text)) return text;
  return bad_value(option, text, fmt::format("1 to {} printable characters without white space", kMaxEndNameBytes));
}

Result<HostPort> local_address_value(std::string_view option, const std::string& text) {
  auto address = parse_host_port(text, false);
  if (!address) return bad_value(option, text, "[ADDR:]PORT, as in 9000, 192.0.2.1:9000 or [::1]:9000");
  return address;
}

Result<HostPort> remote_address_value(std::string_view option, const std::string& text) {
  auto address = parse_host_port(text, true);
  if (!address || address->port == 0) return bad_value(option, text, "HOST:PORT, as in localhost:80 or [::1]:80");
  return address;
}

Result<HostPort> host_and_port(const std::string& host, const std::string& port) {
  const auto number = whole_number(port);
  if (!number || *number == 0 || *number > kMaxPort) return bad_value("PORT", port, fmt::format("1 to {}", kMaxPort));
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string name = bracketed ? host.substr(1, host.size() - 2) : host;
  if (name.empty() || name == "*") return bad_value("HOST", host, "a name or an address");
  return HostPort{name, static_cast<std::uint16_t>(*number)};
}

}  // namespace udtcat::tool
