/// The first line of a stream between two gateways: what the stream is.  spec: docs/spec/gridftp.md §6
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/forwarding_stream.hpp"

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

/// A local stream with a line in front: reads as the greeting and then as the stream; writes go to the stream.
/// Threads: confined to the io_context thread.
class GreetedStream final : public bridge::ForwardingStream {
 public:
  GreetedStream(std::string greeting, std::unique_ptr<LocalStream> stream)
      : ForwardingStream(std::move(stream)), greeting_(std::move(greeting)) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;

 private:
  const std::string greeting_;
  std::size_t given_bytes_ = 0;  // of the greeting
};

}  // namespace udtcat::gridftp
