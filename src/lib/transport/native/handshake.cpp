// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/handshake.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kHandshakeWords = kHandshakeBytes / 4;
constexpr std::uint32_t kExtensionMagic = 0x7564'7431;  // spec: udt4.md §9
constexpr std::size_t kExtensionBytes = 16;             // spec: udt4.md §9
constexpr std::size_t kIpv4Offset = 4;                  // spec: offset of sin_addr
constexpr std::size_t kIpv6Offset = 8;                  // spec: offset of sin6_addr

std::uint32_t reversed_word(const std::byte* bytes) {
  return std::to_integer<std::uint32_t>(bytes[0]) | std::to_integer<std::uint32_t>(bytes[1]) << 8 |
         std::to_integer<std::uint32_t>(bytes[2]) << 16 | std::to_integer<std::uint32_t>(bytes[3]) << 24;
}

}  // namespace

std::optional<HandshakePacket> decode_handshake(std::span<const std::byte> body) {
  if (body.size() < kHandshakeBytes) return std::nullopt;
  const auto word = [&](std::size_t index) { return *word_at(body, index); };
  return HandshakePacket{word(0), word(1), word(2),
                         word(3), word(4), static_cast<Request>(static_cast<std::int32_t>(word(5))),
                         word(6), word(7), {word(8), word(9), word(10), word(11)}};
}

std::optional<HandshakeExtension> decode_extension(std::span<const std::byte> body) {
  if (word_at(body, kHandshakeWords) != kExtensionMagic) return std::nullopt;
  const auto token = number_at(body, kHandshakeWords + 1);
  const auto next_cookie = word_at(body, kHandshakeWords + 3);
  if (!token || !next_cookie) return std::nullopt;
  return HandshakeExtension{*token, *next_cookie, body.subspan(kHandshakeBytes + kExtensionBytes)};
}

std::vector<std::byte> encode(const HandshakePacket& handshake, std::uint32_t destination, std::uint32_t additional,
                              const std::optional<HandshakeExtension>& extension, std::uint32_t timestamp_us) {
  std::vector<std::uint32_t> words{handshake.version,          handshake.type,
                                   handshake.initial_sequence, handshake.mss,
                                   handshake.flow_window,      static_cast<std::uint32_t>(handshake.request),
                                   handshake.socket_id,        handshake.cookie};
  words.insert(words.end(), handshake.address.begin(), handshake.address.end());
  if (extension) {
    words.push_back(kExtensionMagic);
    append_number(words, extension->token);
    words.push_back(extension->next_cookie);
  }
  auto packet = encode(ControlHeader{ControlType::handshake, 0, additional, timestamp_us, destination}, words);
  if (extension) packet.insert(packet.end(), extension->handshake_data.begin(), extension->handshake_data.end());
  return packet;
}

std::vector<std::byte> address_bytes(const Endpoint& address) {
  const auto* const bytes =
      reinterpret_cast<const std::byte*>(address.data());  // SAFETY: any object may be read as bytes
  return {bytes, bytes + address.size_bytes()};
}

std::array<std::uint32_t, 4> address_words(const Endpoint& address) {
  std::array<std::uint32_t, 4> words{};
  const std::vector<std::byte> bytes = address_bytes(address);
  if (address.family() == AddressFamily::ipv4) words[0] = reversed_word(&bytes[kIpv4Offset]);
  if (address.family() == AddressFamily::ipv6)
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = reversed_word(&bytes[kIpv6Offset + 4 * i]);
  return words;
}

}  // namespace udtcat::transport::native
