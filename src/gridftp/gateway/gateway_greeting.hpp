/// The first line of a stream between two gateways: what the stream is.  spec: docs/spec/gridftp.md §6
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::gridftp {

inline constexpr std::size_t kMostGreetingBytes = 64;  // spec: docs/spec/gridftp.md §6, with the line end

struct GatewayGreeting {
  std::optional<Endpoint> data;  ///< a data connection to what was announced so; none: a control connection
  friend bool operator==(const GatewayGreeting&, const GatewayGreeting&) = default;
};

/// With the line end.
[[nodiscard]] std::string to_line(const GatewayGreeting& greeting);
/// `line` without its end. Total.  errors: Errc::stream_refused
[[nodiscard]] Result<GatewayGreeting> parse_gateway_greeting(std::string_view line);

}  // namespace udtcat::gridftp
