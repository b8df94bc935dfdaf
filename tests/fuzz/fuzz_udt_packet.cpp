// SPDX-License-Identifier: Apache-2.0
// Any datagram through every decoder of UDT packets: a value or nothing, and what has one form only comes back as it
// was.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/stateless_reset.hpp"

namespace fuzz_udt_packet {

using namespace udtcat::transport::native;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void take_data(std::span<const std::byte> packet) {
  std::array<std::byte, kHeaderBytes> again{};
  encode(decode_data_header(packet), again);
  require(std::ranges::equal(again, packet.first(kHeaderBytes)));
}

void take_handshake(const ControlHeader& header, std::span<const std::byte> body) {
  const auto handshake = decode_handshake(body);
  const auto extension = decode_extension(body);
  require(handshake.has_value() == (body.size() >= kHandshakeBytes) && (handshake || !extension));
  if (!handshake) return;
  const auto again = encode(*handshake, header.destination, header.additional, extension);
  require(std::ranges::equal(std::span(again).subspan(kHeaderBytes), extension ? body : body.first(kHandshakeBytes)));
}

void take_control(std::span<const std::byte> packet) {
  const ControlHeader header = decode_control_header(packet);
  const auto body = packet.subspan(kHeaderBytes);
  require(std::ranges::equal(encode(header, {}), packet.first(kHeaderBytes)));
  take_handshake(header, body);
  if (const auto reset = decode_reset(packet))
    require(packet.size() == kResetBytes && header.destination == 0 &&
            decode_reset(encode(*reset))->token == reset->token);
  const auto list = decode_loss_list(body);
  require(list.size() <= body.size() / 4);
  for (const auto& [first, last] : list) require(((first | last) >> 31) == 0);
  const auto ack = decode_acknowledgement(body);
  require(ack.has_value() == (body.size() >= 4));
  if (ack) require(ack->rate_packets != 0U && ack->capacity_packets != 0U);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto packet = std::as_bytes(std::span(data, size));
  require(destination_of(packet).has_value() == (size >= kHeaderBytes));
  if (size < kHeaderBytes) return 0;
  is_control(packet) ? take_control(packet) : take_data(packet);
  return 0;
}

}  // namespace fuzz_udt_packet
