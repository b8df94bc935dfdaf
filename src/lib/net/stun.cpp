// SPDX-License-Identifier: Apache-2.0
#include "lib/net/stun.hpp"

#include <algorithm>

#include "lib/core/byte_order.hpp"
#include "lib/core/byte_packing.hpp"
#include "lib/core/text.hpp"
#include "lib/net/address_bytes.hpp"

namespace udtcat::net {

namespace {

constexpr std::size_t kStunHeaderBytes = 20;           // spec: RFC 8489 §5
constexpr std::size_t kAttributeHeaderBytes = 4;       // spec: RFC 8489 §14
constexpr std::uint32_t kMagicCookie = 0x2112A442;     // spec: RFC 8489 §5
constexpr std::size_t kMaxTextBytes = 763;             // spec: RFC 8489 §14.8 to §14.10, the longest of them
constexpr std::uint16_t kFirstOptional = 0x8000;       // spec: RFC 8489 §14
constexpr std::uint32_t kFingerprintXor = 0x5354554e;  // spec: RFC 8489 §14.7
constexpr std::uint8_t kFamilyIpv4 = 1;                // spec: RFC 8489 §14.1
constexpr std::uint8_t kFamilyIpv6 = 2;                // spec: RFC 8489 §14.1
constexpr std::size_t kMaxUnknown = 32;                // guess: nobody learns more from an error

enum StunAttribute : std::uint16_t {
  kMappedAddress = 0x0001,           // spec: RFC 8489 §18.3, as the others
  kUsername = 0x0006,                // spec: likewise
  kMessageIntegrity = 0x0008,        // spec: likewise
  kErrorCode = 0x0009,               // spec: likewise
  kUnknownAttributes = 0x000A,       // spec: likewise
  kRealm = 0x0014,                   // spec: likewise
  kNonce = 0x0015,                   // spec: likewise
  kMessageIntegritySha256 = 0x001C,  // spec: likewise
  kXorMappedAddress = 0x0020,        // spec: likewise
  kPadding = 0x0026,                 // spec: RFC 5780 §9.1
  kFingerprint = 0x8028,             // spec: RFC 8489 §18.3
};

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// source: ITU V.42, by bits: a few hundred bytes now and then
std::uint32_t crc32(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kPolynomial = 0xEDB88320;  // spec: RFC 8489 §14.7, its bits reversed
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte each : bytes) {
    crc ^= std::to_integer<std::uint32_t>(each);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
  }
  return ~crc;
}

/// The bytes that addresses are XORed with: the magic cookie and the transaction id.
std::span<const std::byte> xor_bytes(std::span<const std::byte> header) { return header.subspan(4, 16); }

std::optional<Endpoint> decode_address(std::span<const std::byte> value, std::span<const std::byte> xored_with) {
  core::ByteReader reader(value);
  reader.number<std::uint8_t>();
  const auto family = reader.number<std::uint8_t>();
  auto port = reader.number<std::uint16_t>();
  if (family != kFamilyIpv4 && family != kFamilyIpv6) return std::nullopt;
  const auto bytes = reader.bytes(family == kFamilyIpv4 ? 4 : 16);
  if (!reader.is_whole()) return std::nullopt;
  std::vector<std::byte> address(bytes.begin(), bytes.end());
  if (!xored_with.empty()) {
    port ^= core::load_be<std::uint16_t>(xored_with);
    std::ranges::transform(address, xored_with, address.begin(), std::bit_xor());
  }
  return endpoint_of(address, port);
}

std::optional<StunMessage::ErrorCode> decode_error(std::span<const std::byte> value) {
  core::ByteReader reader(value);
  reader.number<std::uint16_t>();
  const unsigned hundreds = reader.number<std::uint8_t>() & 7U;
  const unsigned rest = reader.number<std::uint8_t>();
  if (reader.is_cut() || hundreds < 3 || hundreds > 6 || rest > 99) return std::nullopt;
  return StunMessage::ErrorCode{static_cast<std::uint16_t>(hundreds * 100 + rest),
                                std::string(core::as_text(reader.bytes(reader.rest_bytes())))};
}

/// One attribute into the message.  returns   whether it is well formed
bool take(StunMessage& message, std::uint16_t type, std::span<const std::byte> value,
          std::span<const std::byte> header) {
  const auto text = [&] { return std::string(core::as_text(value)); };
  switch (type) {
    case kXorMappedAddress:
      message.mapped_address = decode_address(value, xor_bytes(header));
      return message.mapped_address.has_value();
    case kMappedAddress:
      if (!message.mapped_address) message.mapped_address = decode_address(value, {});
      return message.mapped_address.has_value();
    case kUsername:
      if (!message.username) message.username = text();
      return value.size() <= kMaxTextBytes;
    case kNonce:
      if (!message.nonce) message.nonce = text();
      return value.size() <= kMaxTextBytes;
    case kErrorCode:
      if (!message.error) message.error = decode_error(value);
      return message.error.has_value() && value.size() <= kMaxTextBytes + 4;
    case kUnknownAttributes:
    case kRealm:
    case kPadding:
      return true;
    default:
      if (type < kFirstOptional && message.unknown.size() < kMaxUnknown) message.unknown.push_back(type);
      return true;
  }
}

/// Whether the attribute at `at`, the last one, is right of what stands before it.
bool fingerprint_is_right(std::span<const std::byte> datagram, std::size_t at) {
  return datagram.size() == at + kAttributeHeaderBytes + 4 &&
         core::load_be<std::uint32_t>(datagram.last(4)) == (crc32(datagram.first(at)) ^ kFingerprintXor);
}

std::optional<StunMessage::Type> type_of(std::span<const std::byte> datagram) {
  const auto type = static_cast<StunMessage::Type>(core::load_be<std::uint16_t>(datagram));
  switch (type) {
    case StunMessage::Type::request:
    case StunMessage::Type::indication:
    case StunMessage::Type::success:
    case StunMessage::Type::error:
      return type;
  }
  return std::nullopt;
}

/// Threads: unsynchronised.
class AttributeWriter {
 public:
  explicit AttributeWriter(std::vector<std::byte>& to) : to_(to), writer_(to) {}

  void attribute(std::uint16_t type, std::span<const std::byte> value) {
    writer_.number(type);
    writer_.number(static_cast<std::uint16_t>(value.size()));
    writer_.bytes(value);
    to_.resize(padded(to_.size()));
  }
  void text(std::uint16_t type, const std::optional<std::string>& value) {
    if (value) attribute(type, std::as_bytes(std::span(*value)));
  }

 private:
  std::vector<std::byte>& to_;
  core::ByteWriter writer_;
};

std::vector<std::byte> error_value(const StunMessage::ErrorCode& error) {
  std::vector<std::byte> value;
  core::ByteWriter writer(value);
  writer.number(std::uint16_t{0});
  writer.number(static_cast<std::uint8_t>(error.code / 100));
  writer.number(static_cast<std::uint8_t>(error.code % 100));
  writer.text(error.reason);
  return value;
}

std::vector<std::byte> unknown_value(const std::vector<std::uint16_t>& types) {
  std::vector<std::byte> value;
  for (const std::uint16_t type : types) core::ByteWriter(value).number(type);
  return value;
}

std::vector<std::byte> xored_address_value(const Endpoint& address, std::span<const std::byte> xored_with) {
  const auto bytes = address_bytes(address);
  std::vector<std::byte> value;
  core::ByteWriter writer(value);
  writer.number(std::uint8_t{0});
  writer.number(bytes.size() == 4 ? kFamilyIpv4 : kFamilyIpv6);
  writer.number(static_cast<std::uint16_t>(address.port() ^ core::load_be<std::uint16_t>(xored_with)));
  writer.bytes(bytes);
  std::ranges::transform(bytes, xored_with, value.begin() + 4, std::bit_xor());
  return value;
}

}  // namespace

bool is_stun(std::span<const std::byte> datagram) {
  if (datagram.size() < kStunHeaderBytes || datagram.size() % 4 != 0) return false;
  if ((datagram.front() & std::byte{0xc0}) != std::byte{0}) return false;
  return core::load_be<std::uint32_t>(datagram.subspan<4>()) == kMagicCookie &&
         core::load_be<std::uint16_t>(datagram.subspan<2>()) == datagram.size() - kStunHeaderBytes;
}

std::optional<StunMessage> decode_stun(std::span<const std::byte> datagram) {
  if (!is_stun(datagram)) return std::nullopt;
  const auto type = type_of(datagram);
  if (!type) return std::nullopt;
  StunMessage message{.type = *type};
  const auto header = datagram.first(kStunHeaderBytes);
  std::ranges::copy(header.subspan<8>(), message.transaction.begin());
  bool integrity_seen = false;  // what stands behind it counts for nothing (RFC 8489 §14.5)
  core::ByteReader reader(datagram.subspan(kStunHeaderBytes));
  while (reader.rest_bytes() > 0) {
    const std::size_t at = datagram.size() - reader.rest_bytes();
    const auto attribute = reader.number<std::uint16_t>();
    const std::size_t bytes = reader.number<std::uint16_t>();
    const auto value = reader.bytes(padded(bytes));
    if (reader.is_cut()) return std::nullopt;
    if (attribute == kFingerprint)
      return bytes == 4 && fingerprint_is_right(datagram, at) ? std::optional(message) : std::nullopt;
    if (!integrity_seen && attribute != kMessageIntegrity && attribute != kMessageIntegritySha256 &&
        !take(message, attribute, value.first(bytes), header))
      return std::nullopt;
    integrity_seen = integrity_seen || attribute == kMessageIntegrity || attribute == kMessageIntegritySha256;
  }
  return message;
}

std::vector<std::byte> encode(const StunMessage& message, std::size_t least_bytes) {
  std::vector<std::byte> datagram;
  core::ByteWriter header(datagram);
  header.number(static_cast<std::uint16_t>(message.type));
  header.number(std::uint16_t{0});
  header.number(kMagicCookie);
  header.bytes(message.transaction);
  AttributeWriter writer(datagram);
  writer.text(kUsername, message.username);
  writer.text(kNonce, message.nonce);
  if (message.error) writer.attribute(kErrorCode, error_value(*message.error));
  if (!message.unknown.empty()) writer.attribute(kUnknownAttributes, unknown_value(message.unknown));
  if (message.mapped_address)
    writer.attribute(kXorMappedAddress, xored_address_value(*message.mapped_address, xor_bytes(datagram)));
  if (datagram.size() < least_bytes)
    writer.attribute(kPadding,
                     std::vector<std::byte>(padded(std::max(least_bytes, datagram.size() + kAttributeHeaderBytes) -
                                                   datagram.size() - kAttributeHeaderBytes)));
  core::store_be(std::span(datagram).subspan<2>(), static_cast<std::uint16_t>(datagram.size() - kStunHeaderBytes));
  return datagram;
}

std::vector<std::byte> binding_indication() { return encode({.type = StunMessage::Type::indication}); }

bool is_binding_indication(std::span<const std::byte> datagram) {
  static const std::vector<std::byte> kWhole = binding_indication();
  return std::ranges::equal(datagram, kWhole);
}

}  // namespace udtcat::net
