// SPDX-License-Identifier: Apache-2.0
/// UDT4's packets by hand, for tests that judge the code which makes them: nothing here is shared with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace udtcat::test {

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::uint32_t>;

inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kHandshakeBytes = 48;
inline constexpr std::size_t kMssOverheadBytes = 44;  // IPv4, UDP and UDT headers
inline constexpr std::uint32_t kControlBit = 0x80000000;
inline constexpr std::uint32_t kSequenceMask = 0x7fffffff;
inline constexpr std::uint32_t kInduction = 1;
inline constexpr std::uint32_t kConclusion = 0xffffffff;
inline constexpr std::uint32_t kReject = 1002;

enum class Type : std::uint16_t {
  handshake = 0,
  keep_alive = 1,
  ack = 2,
  nak = 3,
  congestion_warning = 4,
  shutdown = 5,
  ack2 = 6,
  drop = 7,
  error = 8,
  user = 0x7fff,
};

/// A packet, borrowed. Threads: immutable.
class PacketView {
 public:
  /// Anything; only a packet of at least 16 bytes has a header.
  explicit PacketView(std::span<const std::byte> datagram) : datagram_(datagram) {}

  [[nodiscard]] bool has_header() const { return datagram_.size() >= kHeaderBytes; }
  [[nodiscard]] bool is_control() const { return has_header() && (header(0) & kControlBit) != 0; }
  [[nodiscard]] bool is_data() const { return has_header() && (header(0) & kControlBit) == 0; }
  [[nodiscard]] bool is(Type type) const { return is_control() && this->type() == type; }
  [[nodiscard]] Type type() const { return static_cast<Type>(header(0) >> 16 & 0x7fff); }
  [[nodiscard]] std::uint32_t sequence() const { return header(0); }
  [[nodiscard]] std::uint32_t info() const { return header(1); }  ///< or the message word of a data packet
  [[nodiscard]] std::uint32_t timestamp() const { return header(2); }
  [[nodiscard]] std::uint32_t destination() const { return header(3); }
  [[nodiscard]] std::uint32_t header(std::size_t index) const { return word_at(index * 4); }
  [[nodiscard]] std::span<const std::byte> payload() const { return datagram_.subspan(kHeaderBytes); }
  /// A word of a control packet's payload; 0 beyond its end.
  [[nodiscard]] std::uint32_t word(std::size_t index) const { return word_at(kHeaderBytes + index * 4); }
  [[nodiscard]] std::size_t words() const { return (datagram_.size() - kHeaderBytes) / 4; }
  [[nodiscard]] std::span<const std::byte> datagram() const { return datagram_; }
  /// "ACK 3 to 7 [1a2b, ...]", for people.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::uint32_t word_at(std::size_t at) const;

  std::span<const std::byte> datagram_;
};

struct Handshake {
  std::uint32_t version = 4;
  std::uint32_t socket_type = 1;
  std::uint32_t initial_sequence = 0;
  std::uint32_t mss = 1500;
  std::uint32_t window = 8192;
  std::uint32_t request = kInduction;
  std::uint32_t id = 0;
  std::uint32_t cookie = 0;
  std::array<std::uint32_t, 4> address{0x0100007f, 0, 0, 0};  ///< reversed in each word: 127.0.0.1

  [[nodiscard]] Words words() const;
};

[[nodiscard]] Bytes control_packet(Type type, std::uint32_t info, std::uint32_t destination, const Words& payload);
[[nodiscard]] Bytes control_packet(std::uint32_t first_word, std::uint32_t info, std::uint32_t destination,
                                   std::span<const std::byte> payload);
[[nodiscard]] Bytes data_packet(std::uint32_t sequence, std::uint32_t destination, std::span<const std::byte> payload,
                                std::uint32_t message = 0xc0000001, std::uint32_t timestamp = 0);
[[nodiscard]] Bytes handshake_packet(const Handshake& handshake, std::uint32_t destination, std::uint32_t info = 0);
/// Nothing unless it is a handshake of at least 48 bytes.
[[nodiscard]] std::optional<Handshake> handshake_of(const PacketView& packet);
[[nodiscard]] Bytes to_bytes(const Words& words);
void put_word(std::span<std::byte> datagram, std::size_t at, std::uint32_t value);

/// `from` and so many further, modulo 2^31.
[[nodiscard]] constexpr std::uint32_t advanced(std::uint32_t from, std::int64_t by) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(from + by) & kSequenceMask);
}
/// From b to a, the short way round.
[[nodiscard]] constexpr std::int32_t distance(std::uint32_t b, std::uint32_t a) {
  const auto forward = static_cast<std::int32_t>((a - b) & kSequenceMask);
  return forward < 0x40000000 ? forward : forward - 0x7fffffff - 1;
}

}  // namespace udtcat::test
