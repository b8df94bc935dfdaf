#include "gridftp/gateway/gateway_greeting.hpp"

#include <algorithm>
#include <cstring>

#include "gridftp/dialogue/data_port.hpp"
#include "lib/core/printable.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::string_view kProtocol = "udtcat-gridftp ";
constexpr std::string_view kVersion = "1 ";  // spec: docs/spec/gridftp.md §6
constexpr std::string_view kControl = "control";
constexpr std::string_view kData = "data ";

tl::unexpected<Error> no_greeting(std::string_view line, std::string why) {
  return fail(Errc::stream_refused,
              "take \"" + core::printable(line, kMostGreetingBytes) + "\" for a stream of GridFTP", std::move(why));
}

}  // namespace

std::string to_line(const GatewayGreeting& greeting) {
  std::string line{kProtocol};
  line += kVersion;
  line += greeting.data ? std::string(kData) + to_data_port(*greeting.data) : std::string(kControl);
  return line + '\n';
}

Result<GatewayGreeting> parse_gateway_greeting(std::string_view line) {
  std::string_view rest = line;
  if (!rest.starts_with(kProtocol)) return no_greeting(line, "the other end is no gridftp gateway");
  rest.remove_prefix(kProtocol.size());
  if (!rest.starts_with(kVersion)) return no_greeting(line, "this gateway speaks version 1");
  rest.remove_prefix(kVersion.size());
  if (rest == kControl) return GatewayGreeting{};
  if (!rest.starts_with(kData)) return no_greeting(line, "it is neither control nor data");
  const auto endpoint = parse_data_port(rest.substr(kData.size()));
  if (!endpoint) return no_greeting(line, "it names no address");
  return GatewayGreeting{*endpoint};
}

LocalStream::ReadResult GreetedStream::read_some(std::span<std::byte> into) {
  const std::size_t bytes = std::min(greeting_.size() - given_bytes_, into.size());
  if (bytes == 0) return inner().read_some(into);
  std::memcpy(into.data(), greeting_.data() + given_bytes_, bytes);
  given_bytes_ += bytes;
  return {.state = ReadState::data, .bytes = bytes};
}

}  // namespace udtcat::gridftp
