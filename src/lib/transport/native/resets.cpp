#include "lib/transport/native/resets.hpp"

#include <array>
#include <utility>

#include "lib/core/byte_order.hpp"

namespace udtcat::transport::native {

namespace {

constexpr PrefixMeter::Limits kMost{100, 1000};  // guess: a peer with 16 flows hears of each at once

void append_be(std::vector<std::byte>& out, std::uint64_t value) {
  out.resize(out.size() + sizeof value);
  core::store_be<std::uint64_t>(std::span(out).last<sizeof value>(), value);
}

/// Packets of a connection that stands: nobody waits for an answer to others.
bool is_of_a_connection(std::span<const std::byte> packet) {
  if (!is_control(packet)) return true;
  const ControlHeader header = decode_control_header(packet);
  const bool is_reset = header.type == ControlType::user && static_cast<Extension>(header.subtype) == Extension::reset;
  return header.type != ControlType::handshake && header.type != ControlType::shutdown && !is_reset;
}

}  // namespace

std::vector<std::byte> encode(const Reset& reset) {
  const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(reset.token >> 32),
                                           static_cast<std::uint32_t>(reset.token)};
  return encode(ControlHeader{ControlType::user, static_cast<std::uint16_t>(Extension::reset), reset.id, 0, 0}, words);
}

std::optional<Reset> decode_reset(std::span<const std::byte> packet) {
  if (packet.size() != kResetBytes || !is_control(packet)) return std::nullopt;
  const ControlHeader header = decode_control_header(packet);
  if (header.type != ControlType::user || static_cast<Extension>(header.subtype) != Extension::reset ||
      header.destination != 0)
    return std::nullopt;
  return Reset{header.additional, core::load_be<std::uint64_t>(packet.subspan(kHeaderBytes))};
}

Result<Resets> Resets::create(std::span<const std::byte, crypto::KeyedHash::kKeyBytes> key, std::uint16_t local_port) {
  auto hash = crypto::KeyedHash::create(key);
  if (!hash) return tl::unexpected(hash.error());
  auto meter = PrefixMeter::create(kMost);
  if (!meter) return tl::unexpected(meter.error());
  return Resets(std::move(*hash), local_port, std::move(*meter));
}

Result<std::uint64_t> Resets::token_of(std::uint32_t id, const Endpoint& peer) {
  const auto* const address =
      reinterpret_cast<const std::byte*>(peer.data());  // SAFETY: any object may be read as bytes
  std::vector<std::byte> message(address, address + peer.size_bytes());
  append_be(message, id);
  append_be(message, local_port_);
  return hash_.of(message);
}

std::vector<std::byte> Resets::answer(TimePoint now, std::span<const std::byte> packet, const Endpoint& from) {
  if (packet.size() < kResetBytes || !is_of_a_connection(packet)) return {};
  const auto id = destination_of(packet);
  if (!id || *id == 0 || !meter_.take(now, core::host_of(from))) return {};
  const auto token = token_of(*id, from);
  if (!token) return {};
  return encode(Reset{*id, *token});
}

}  // namespace udtcat::transport::native
