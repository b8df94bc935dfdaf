// SPDX-License-Identifier: Apache-2.0
#include "wan/flow.hpp"

#include <algorithm>

#include "lib/core/byte_order.hpp"
#include "wan/super_packet.hpp"

namespace udtcat::wan {
namespace {

using core::load_be;

constexpr std::uint8_t kTcpProtocol = 6;         // spec: IANA, protocol numbers
constexpr std::uint8_t kUdpProtocol = 17;        // spec: IANA, protocol numbers
constexpr std::uint16_t kFragmentBits = 0x3fff;  // spec: RFC 791, 3.1: more fragments, and the offset
constexpr std::size_t kPortsBytes = 4;  // spec: RFC 9293, 3.1; RFC 768: TCP's and UDP's headers begin with them

/// Where in an IP packet a flow's fields are.
struct FlowFields {
  std::uint8_t protocol;
  std::size_t addresses;  // offset; the other address follows
  std::size_t address_bytes;
  std::size_t ports;  // offset
};

FlowFields fields_of_ipv4(std::span<const std::byte> ip) {
  const bool is_fragment = (load_be<std::uint16_t>(ip.subspan(6)) & kFragmentBits) != 0;
  return {.protocol = is_fragment ? std::uint8_t{0} : std::to_integer<std::uint8_t>(ip[9]),
          .addresses = 12,
          .address_bytes = 4,
          .ports = std::size_t{4} * std::to_integer<std::size_t>(ip[0] & std::byte{0x0f})};
}

FlowFields fields_of_ipv6(std::span<const std::byte> ip) {
  return {.protocol = std::to_integer<std::uint8_t>(ip[6]), .addresses = 8, .address_bytes = 16, .ports = 40};
}

FlowEnd flow_end(std::span<const std::byte> address, std::span<const std::byte> port) {
  FlowEnd end{.port = load_be<std::uint16_t>(port)};
  std::ranges::copy(address, end.address.begin());
  return end;
}

/// The finalizer of splitmix64: each bit of the input turns half of the output's.
std::uint64_t scramble(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::uint64_t hash_of(const FlowEnd& end) {
  const auto address = std::span<const std::byte>(end.address);
  const std::uint64_t high = scramble(load_be<std::uint64_t>(address));
  return scramble(scramble(high ^ load_be<std::uint64_t>(address.subspan(8))) ^ end.port);
}

}  // namespace

Flow flow_of(std::span<const std::byte> packet) {
  constexpr std::size_t kIpv4Header = 20;
  constexpr std::size_t kIpv6Header = 40;
  if (packet.size() < kVirtioHeaderBytes + kIpv4Header) return {};
  const auto ip = packet.subspan(kVirtioHeaderBytes);
  const auto version = std::to_integer<int>(ip[0] >> 4);
  if (version != 4 && (version != 6 || ip.size() < kIpv6Header)) return {};
  const FlowFields fields = version == 4 ? fields_of_ipv4(ip) : fields_of_ipv6(ip);
  if (fields.protocol != kTcpProtocol && fields.protocol != kUdpProtocol) return {};
  if (ip.size() < fields.ports + kPortsBytes) return {};
  const auto addresses = ip.subspan(fields.addresses, 2 * fields.address_bytes);
  const auto ports = ip.subspan(fields.ports, kPortsBytes);
  return {.from = flow_end(addresses.first(fields.address_bytes), ports.first(2)),
          .to = flow_end(addresses.subspan(fields.address_bytes), ports.subspan(2)),
          .protocol = fields.protocol};
}

std::uint64_t hash_of(const Flow& flow) {
  return scramble(hash_of(flow.from) + hash_of(flow.to) + flow.protocol);  // a sum: neither end is the first
}

std::size_t path_of(const Flow& flow, std::size_t paths) {
  if (flow.protocol == 0) return 0;
  return static_cast<std::size_t>((hash_of(flow) >> 32) * paths >> 32);
}

}  // namespace udtcat::wan
