/// The values of options, with errors that name the option, the value and what is allowed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::tool {

[[nodiscard]] inline tl::unexpected<Error> bad_value(std::string_view option, std::string_view value,
                                                     std::string allowed) {
  return fail(Errc::bad_argument, fmt::format("{} \"{}\"", option, value), "allowed: " + std::move(allowed));
}

/// A whole number from `least` to `most`.
[[nodiscard]] Result<std::size_t> number_value(std::string_view option, const std::string& text, std::size_t least,
                                               std::size_t most);
/// A size from `least` to `most` bytes.
[[nodiscard]] Result<std::size_t> size_value(std::string_view option, const std::string& text, std::size_t least,
                                             std::size_t most);
[[nodiscard]] Result<std::chrono::milliseconds> duration_value(std::string_view option, const std::string& text,
                                                               std::chrono::milliseconds least);
/// The name of an end: see is_end_name().
[[nodiscard]] Result<std::string> end_name_value(std::string_view option, const std::string& text);
/// "[ADDR:]PORT", where port 0 lets the system choose.
[[nodiscard]] Result<HostPort> local_address_value(std::string_view option, const std::string& text);
/// "HOST:PORT".
[[nodiscard]] Result<HostPort> remote_address_value(std::string_view option, const std::string& text);
/// HOST and PORT as two words.
[[nodiscard]] Result<HostPort> host_and_port(const std::string& host, const std::string& port);

/// One of `all`, by its name.
template <typename Value, typename Parse>
[[nodiscard]] Result<Value> name_value(std::string_view option, const std::string& text, Parse parse,
                                       std::initializer_list<Value> all) {
  if (const std::optional<Value> value = parse(text)) return *value;
  std::string names;
  for (const Value value : all) names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(value));
  return bad_value(option, text, std::move(names));
}

}  // namespace udtcat::tool
