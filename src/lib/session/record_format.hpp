// SPDX-License-Identifier: Apache-2.0
/// Every number of the record layer, once. See docs/spec/record.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/buffer.hpp"

namespace udtcat::session {

/// The number of a block in its direction: 0, 1, 2 … Lane::nonce() makes the nonce of it, so it never
/// repeats under a key.
using BlockNumber = std::uint64_t;

inline constexpr std::uint8_t kRecordVersion = 1;           // spec: record.md §2
inline constexpr std::size_t kRecordHeaderBytes = 16;       // spec: record.md §2
inline constexpr std::size_t kRecordTagBytes = 16;          // spec: record.md §2
inline constexpr std::size_t kPayloadOffsetBytes = 64;      // a cache line; the header ends where the payload begins
inline constexpr BlockNumber kBlocksPerEpoch = 1ULL << 16;  // spec: record.md §4
inline constexpr BlockNumber kMaxBlockNumber = 1ULL << 62;  // spec: record.md §4

/// The header in the clear: version 1 ‖ protection 1 ‖ lane 2 ‖ payload length 4 ‖ block number 8, big-endian.
struct RecordHeader {
  Protection protection;
  std::uint16_t lane;
  std::uint32_t payload_bytes;
  BlockNumber number;
};

void encode(const RecordHeader& header, std::span<std::byte, kRecordHeaderBytes> out);
/// Total: any 16 bytes give a header or Errc::protocol_violated.
[[nodiscard]] Result<RecordHeader> decode_record_header(std::span<const std::byte, kRecordHeaderBytes> in);

/// Blocks are dealt to the lanes in turn.
[[nodiscard]] constexpr std::uint16_t lane_of(BlockNumber number, std::size_t lanes) {
  return static_cast<std::uint16_t>(number % lanes);
}
/// 16 at private and safe, 0 at auth and clear.
[[nodiscard]] constexpr std::size_t tag_bytes(Protection protection) {
  return protection >= Protection::safe ? kRecordTagBytes : 0;
}
/// A buffer that can hold a record of this payload size, and behind it the next one's header, which is read with it.
[[nodiscard]] constexpr std::size_t buffer_bytes_for(std::size_t block_bytes) {
  return kPayloadOffsetBytes + block_bytes + kRecordTagBytes + kRecordHeaderBytes;
}

/// A block, and in the same memory the record it becomes: header ‖ payload ‖ tag around a fixed payload offset.
struct Block {
  core::Buffer memory;
  BlockNumber number = 0;
  std::size_t payload_bytes = 0;

  [[nodiscard]] std::span<std::byte> payload() const {
    return memory.bytes().subspan(kPayloadOffsetBytes, payload_bytes);
  }
  /// Room for payload, whatever its present size.
  [[nodiscard]] std::span<std::byte> payload_room() const {
    auto all = memory.bytes();
    return all.first(all.size() - kRecordTagBytes - kRecordHeaderBytes).subspan(kPayloadOffsetBytes);
  }
  [[nodiscard]] std::span<std::byte, kRecordHeaderBytes> header() const {
    return std::span<std::byte, kRecordHeaderBytes>(
        memory.bytes().subspan(kPayloadOffsetBytes - kRecordHeaderBytes, kRecordHeaderBytes));
  }
  [[nodiscard]] std::span<std::byte, kRecordTagBytes> tag() const {
    return std::span<std::byte, kRecordTagBytes>(
        memory.bytes().subspan(kPayloadOffsetBytes + payload_bytes, kRecordTagBytes));
  }
  /// Of a record that was read: room for its body and the header that follows.
  [[nodiscard]] std::span<std::byte> body_and_next_header(Protection protection) const {
    return memory.bytes().subspan(kPayloadOffsetBytes, payload_bytes + tag_bytes(protection) + kRecordHeaderBytes);
  }
  /// The record on the wire.
  [[nodiscard]] std::span<std::byte> record(Protection protection) const {
    return memory.bytes().subspan(kPayloadOffsetBytes - kRecordHeaderBytes,
                                  kRecordHeaderBytes + payload_bytes + tag_bytes(protection));
  }
};

}  // namespace udtcat::session
