// SPDX-License-Identifier: Apache-2.0
/// The UDT4 packet: 16 bytes of header and what follows. See docs/spec/udt4.md §1 to §3.
///
/// Decoders are total: they take any bytes and look at none that are not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace udtcat::transport::native {

inline constexpr std::size_t kHeaderBytes = 16;         // spec: udt4.md §1
inline constexpr std::size_t kMaxPacketBytes = 65'507;  // spec: RFC 768 over RFC 791: what IPv4 carries; IPv6 20 more

enum class ControlType : std::uint16_t {
  handshake = 0,
  keep_alive = 1,
  ack = 2,
  nak = 3,
  congestion_warning = 4,
  shutdown = 5,
  ack2 = 6,
  message_drop = 7,
  error = 8,
  user = 0x7fff,  ///< our extensions, by subtype
};

/// ControlHeader::subtype for ControlType::user. Only between our own ends.
enum class Extension : std::uint16_t {
  path_challenge = 1,
  path_response = 2,
  mtu_probe = 3,
  mtu_reply = 4,
  reset = 5,     ///< for destination 0, as no other is: see StatelessResets
  datagram = 6,  ///< a priority datagram, past the stream
};

struct DataHeader {
  std::uint32_t sequence = 0;  ///< 31 bits
  std::uint32_t message = 0;   ///< ignored by a stream's receiver; between our own ends the place of a fragment
  std::uint32_t timestamp_us = 0;
  std::uint32_t destination = 0;
};

struct ControlHeader {
  ControlType type = ControlType::keep_alive;
  std::uint16_t subtype = 0;
  std::uint32_t additional = 0;
  std::uint32_t timestamp_us = 0;  ///< 0 from libudt
  std::uint32_t destination = 0;
};

/// Whether a datagram of at least kHeaderBytes is a control packet.
[[nodiscard]] inline bool is_control(std::span<const std::byte> packet) {
  return (packet[0] & std::byte{0x80}) != std::byte{0};
}
/// The number of the socket that the packet is for; 0: the port's listener. None: too short for a packet.
[[nodiscard]] std::optional<std::uint32_t> destination_of(std::span<const std::byte> packet);

/// packet   at least kHeaderBytes
[[nodiscard]] DataHeader decode_data_header(std::span<const std::byte> packet);
[[nodiscard]] ControlHeader decode_control_header(std::span<const std::byte> packet);
void encode(const DataHeader& header, std::span<std::byte, kHeaderBytes> out);

/// A control packet: its header and big-endian words.
[[nodiscard]] std::vector<std::byte> encode(const ControlHeader& header, std::span<const std::uint32_t> words);

/// Word `index` of a control packet's body; none: the body is shorter.
[[nodiscard]] std::optional<std::uint32_t> word_at(std::span<const std::byte> body, std::size_t index);
/// Words `index` and `index` + 1 as one number, the high one first; none: the body is shorter.
[[nodiscard]] std::optional<std::uint64_t> number_at(std::span<const std::byte> body, std::size_t index);
void append_number(std::vector<std::uint32_t>& words, std::uint64_t number);

/// An inclusive range of sequence numbers as a NAK names them.
struct SequenceRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
/// A NAK's loss list, up to the first range that is cut off or has a number with bit 31 set.
[[nodiscard]] std::vector<SequenceRange> decode_loss_list(std::span<const std::byte> body);
/// Appends a number in eight bytes.
void append_be(std::vector<std::byte>& out, std::uint64_t value);
/// Appends one range, in one word or two.
void append_loss(std::vector<std::uint32_t>& words, SequenceRange range);

/// A control packet to be sent, without its destination.
struct ControlMessage {
  ControlType type = ControlType::keep_alive;
  std::uint16_t subtype = 0;
  std::uint32_t additional = 0;
  std::vector<std::uint32_t> words;
};

}  // namespace udtcat::transport::native
