// SPDX-License-Identifier: Apache-2.0
#include "lib/session/priority_datagrams.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"

namespace udtcat::session {

namespace {

constexpr std::uint16_t kPriorityLane = 0;           // spec: record.md §7: the only one under its keys
constexpr std::uint64_t kMaxForgeries = 1ULL << 36;  // spec: RFC 9001 §6.6, of ChaCha20-Poly1305; of AES-GCM 2^52

}  // namespace

Result<PriorityDatagrams> PriorityDatagrams::create(const NegotiatedParameters& agreed, const KeySchedule& keys,
                                                    Role role) {
  UDTCAT_TRY(auto outgoing, traffic_state(agreed, keys, role, crypto::AeadDirection::seal));
  UDTCAT_TRY(auto incoming, traffic_state(agreed, keys, peer_of(role), crypto::AeadDirection::open));
  return PriorityDatagrams(agreed.protection, std::move(outgoing), std::move(incoming));
}

Result<PriorityDatagrams::TrafficState> PriorityDatagrams::traffic_state(const NegotiatedParameters& agreed,
                                                                         const KeySchedule& keys, Role from,
                                                                         crypto::AeadDirection direction) {
  UDTCAT_TRY(const auto header_key, keys.priority_header_key(direction_from(from)));
  UDTCAT_TRY(auto headers, crypto::HeaderCipher::create(header_key));
  UDTCAT_TRY(auto secret, keys.priority_secret(direction_from(from)));
  UDTCAT_TRY(auto lane, Lane::create(agreed.protection, agreed.cipher, direction, std::move(secret)));
  return TrafficState{std::move(headers), std::move(lane)};
}

PriorityDatagrams::PriorityDatagrams(Protection protection, TrafficState outgoing, TrafficState incoming)
    : protection_(protection),
      outgoing_(std::move(outgoing)),
      incoming_(std::move(incoming)),
      memory_(buffer_bytes_for(kMaxPriorityBytes), 2) {}

Result<std::vector<std::byte>> PriorityDatagrams::seal(std::span<const std::byte> payload) {
  UDTCAT_INVARIANT(!payload.empty() && payload.size() <= kMaxPriorityBytes, "words are gathered up to the limit");
  auto memory = memory_.acquire();
  if (!memory) return fail(Errc::out_of_resources, "seal a priority datagram", "no memory");
  const Block block{std::move(*memory), outgoing_.next++, payload.size()};
  std::ranges::copy(payload, block.payload().begin());
  encode(RecordHeader{protection_, kPriorityLane, static_cast<std::uint32_t>(payload.size()), block.number},
         block.header());
  UDTCAT_CHECK(outgoing_.lane.seal(block));
  UDTCAT_CHECK(outgoing_.headers.encipher(block.header()));
  const auto record = block.record(protection_);
  return std::vector<std::byte>(record.begin(), record.end());
}

std::optional<std::span<const std::byte>> PriorityDatagrams::open(std::span<const std::byte> record) {
  constexpr std::size_t kOverheadBytes = kRecordHeaderBytes + kRecordTagBytes;
  if (record.size() <= kOverheadBytes || record.size() > kPriorityRecordBytes || forged_ >= kMaxForgeries)
    return std::nullopt;
  if (opened_.memory.empty()) {
    auto memory = memory_.acquire();
    if (!memory) return std::nullopt;
    opened_.memory = std::move(*memory);
  }
  opened_.payload_bytes = record.size() - kOverheadBytes;
  std::ranges::copy(record, opened_.record(protection_).begin());
  if (!open_in_place()) return std::nullopt;
  return opened_.payload();
}

/// The number counts only where all known header fields match: a forged one must not advance the epoch.
bool PriorityDatagrams::open_in_place() {
  // Each epoch on the way to a number costs a hash.
  constexpr BlockNumber kMaxSkipped = 4 * kBlocksPerEpoch;  // spec: record.md §7
  if (!incoming_.headers.decipher(opened_.header())) return false;
  const auto header = decode_record_header(opened_.header());
  if (!header || header->protection != protection_ || header->lane != kPriorityLane ||
      header->payload_bytes != opened_.payload_bytes || header->number < incoming_.next ||
      header->number - incoming_.next > kMaxSkipped)
    return false;
  opened_.number = header->number;
  incoming_.next = header->number + 1;  // the lane goes forward only, whatever the tag says
  if (incoming_.lane.open(opened_)) return true;
  ++forged_;
  return false;
}

}  // namespace udtcat::session
