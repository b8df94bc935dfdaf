// SPDX-License-Identifier: Apache-2.0
/// The header of a block in MODE E (GFD.020, extended block mode). Bytes: docs/spec/gridftp.md §2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <udtcat/units.hpp>

#include "lib/core/byte_order.hpp"

namespace udtcat::gridftp {

inline constexpr std::size_t kBlockHeaderBytes = 17;              // spec: docs/spec/gridftp.md §2
inline constexpr std::size_t kDefaultModeEBlockBytes = 1 * kMiB;  // guess: of payload at most

struct BlockHeader {
  // spec: docs/spec/gridftp.md §2. Bits that are not here mean nothing to us, as to Globus.
  static constexpr std::uint8_t kClose = 0x04;  ///< the sender will close the connection
  static constexpr std::uint8_t kEod = 0x08;    ///< the last block of this connection
  static constexpr std::uint8_t kEof = 0x40;    ///< no payload; `offset` is the number of EODs to be seen

  std::uint8_t descriptor = 0;
  std::uint64_t count = 0;   ///< bytes of payload that follow; without meaning at EOF
  std::uint64_t offset = 0;  ///< of the first of them

  [[nodiscard]] bool ends_file() const { return (descriptor & kEof) != 0; }
  [[nodiscard]] bool ends_data() const { return (descriptor & kEod) != 0; }
  [[nodiscard]] bool ends_connection() const { return (descriptor & kClose) != 0; }
  /// Nothing follows an EOF header, whatever it counts.
  [[nodiscard]] std::uint64_t payload_bytes() const { return ends_file() ? 0 : count; }
  friend bool operator==(const BlockHeader&, const BlockHeader&) = default;
};

[[nodiscard]] inline std::array<std::byte, kBlockHeaderBytes> encode(const BlockHeader& header) {
  std::array<std::byte, kBlockHeaderBytes> out{};
  const std::span<std::byte> bytes(out);
  bytes[0] = std::byte{header.descriptor};
  core::store_be(bytes.subspan(1), header.count);
  core::store_be(bytes.subspan(9), header.offset);
  return out;
}

/// Total: any bytes are a header. IncomingFile checks its numbers.
[[nodiscard]] inline BlockHeader decode_block_header(std::span<const std::byte, kBlockHeaderBytes> in) {
  return {.descriptor = std::to_integer<std::uint8_t>(in[0]),
          .count = core::load_be<std::uint64_t>(in.subspan(1)),
          .offset = core::load_be<std::uint64_t>(in.subspan(9))};
}

}  // namespace udtcat::gridftp
