// SPDX-License-Identifier: Apache-2.0
#include "support/wire.hpp"

#include <algorithm>
#include <cstdio>

namespace udtcat::test {

namespace {

std::string hex(std::uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%x", value);
  return text;
}

}  // namespace

std::uint32_t PacketView::word_at(std::size_t at) const {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    value = value << 8 | (i < datagram_.size() ? std::to_integer<std::uint32_t>(datagram_[i]) : 0U);
  return value;
}

std::string PacketView::text() const {
  if (!has_header()) return "a runt of " + std::to_string(datagram_.size()) + " bytes";
  if (is_data())
    return "data " + hex(sequence()) + ", " + std::to_string(payload().size()) + " bytes, to " + hex(destination());
  static constexpr std::array kNames{"handshake", "keep-alive", "ACK",  "NAK",  "warning",
                                     "SHUTDOWN",  "ACK2",       "DROP", "error"};
  const auto number = static_cast<std::size_t>(type());
  std::string said = number < kNames.size() ? kNames[number] : "type " + hex(static_cast<std::uint32_t>(number));
  said += " info " + hex(info()) + " to " + hex(destination()) + " [";
  for (std::size_t i = 0; i < std::min<std::size_t>(words(), 12); ++i) said += (i == 0 ? "" : " ") + hex(word(i));
  return said + "] " + std::to_string(datagram_.size()) + " bytes";
}

Words Handshake::words() const {
  return {version, socket_type, initial_sequence, mss,        window,     request,
          id,      cookie,      address[0],       address[1], address[2], address[3]};
}

Bytes to_bytes(const Words& words) {
  Bytes bytes(words.size() * 4);
  for (std::size_t i = 0; i < words.size(); ++i) put_word(bytes, i * 4, words[i]);
  return bytes;
}

void put_word(std::span<std::byte> datagram, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) datagram[at + i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

Bytes control_packet(std::uint32_t first_word, std::uint32_t info, std::uint32_t destination,
                     std::span<const std::byte> payload) {
  Bytes bytes = to_bytes({first_word, info, 0, destination});
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Bytes control_packet(Type type, std::uint32_t info, std::uint32_t destination, const Words& payload) {
  return control_packet(kControlBit | static_cast<std::uint32_t>(type) << 16, info, destination, to_bytes(payload));
}

Bytes data_packet(std::uint32_t sequence, std::uint32_t destination, std::span<const std::byte> payload,
                  std::uint32_t message, std::uint32_t timestamp) {
  Bytes bytes = to_bytes({sequence & kSequenceMask, message, timestamp, destination});
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Bytes handshake_packet(const Handshake& handshake, std::uint32_t destination, std::uint32_t info) {
  return control_packet(Type::handshake, info, destination, handshake.words());
}

std::optional<Handshake> handshake_of(const PacketView& packet) {
  if (!packet.is(Type::handshake) || packet.payload().size() < kHandshakeBytes) return std::nullopt;
  return Handshake{.version = packet.word(0),
                   .socket_type = packet.word(1),
                   .initial_sequence = packet.word(2),
                   .mss = packet.word(3),
                   .window = packet.word(4),
                   .request = packet.word(5),
                   .id = packet.word(6),
                   .cookie = packet.word(7),
                   .address = {packet.word(8), packet.word(9), packet.word(10), packet.word(11)}};
}

}  // namespace udtcat::test
