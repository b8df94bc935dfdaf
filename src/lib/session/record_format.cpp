// SPDX-License-Identifier: Apache-2.0
#include "lib/session/record_format.hpp"

#include "lib/core/byte_order.hpp"

namespace udtcat::session {

namespace {

// Offsets of the fields; spec: record.md §2.
constexpr std::size_t kVersionAt = 0;
constexpr std::size_t kProtectionAt = 1;
constexpr std::size_t kLaneAt = 2;
constexpr std::size_t kLengthAt = 4;
constexpr std::size_t kNumberAt = 8;

// The field is named for developers: a header that was deciphered with the wrong key has no right field.
tl::unexpected<Error> bad_header(const char* field) {
  return fail(Errc::protocol_violated, "read a record header", std::string("bad ") + field);
}

}  // namespace

void encode(const RecordHeader& header, std::span<std::byte, kRecordHeaderBytes> out) {
  out[kVersionAt] = std::byte{kRecordVersion};
  out[kProtectionAt] = static_cast<std::byte>(header.protection);
  core::store_be(out.subspan<kLaneAt>(), header.lane);
  core::store_be(out.subspan<kLengthAt>(), header.payload_bytes);
  core::store_be(out.subspan<kNumberAt>(), header.number);
}

Result<RecordHeader> decode_record_header(std::span<const std::byte, kRecordHeaderBytes> in) {
  RecordHeader header{};
  if (in[kVersionAt] != std::byte{kRecordVersion}) return bad_header("version");
  if (in[kProtectionAt] > static_cast<std::byte>(Protection::private_)) return bad_header("protection");
  header.protection = static_cast<Protection>(in[kProtectionAt]);
  header.lane = core::load_be<std::uint16_t>(in.subspan<kLaneAt>());
  if (header.lane >= kMaxLanes) return bad_header("lane");
  header.payload_bytes = core::load_be<std::uint32_t>(in.subspan<kLengthAt>());
  if (header.payload_bytes == 0 || header.payload_bytes > kMaxBlockBytes) return bad_header("length");
  header.number = core::load_be<BlockNumber>(in.subspan<kNumberAt>());
  if (header.number >= kMaxBlockNumber) return bad_header("number");
  return header;
}

}  // namespace udtcat::session
