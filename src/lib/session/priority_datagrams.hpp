// SPDX-License-Identifier: Apache-2.0
/// Priority datagrams: sealed copies of interactive data, sent beside the stream. See docs/spec/record.md §7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/buffer.hpp"
#include "lib/crypto/header_cipher.hpp"
#include "lib/session/key_schedule.hpp"
#include "lib/session/lanes.hpp"
#include "lib/session/parameters.hpp"
#include "lib/session/record_format.hpp"

namespace udtcat::session {

inline constexpr std::size_t kMaxPriorityBytes = 1024;  // spec: record.md §7: with all headers within 1280 bytes
inline constexpr std::size_t kPriorityRecordBytes = kRecordHeaderBytes + kMaxPriorityBytes + kRecordTagBytes;

/// Each direction has its own key, header key and numbers. A lost one does no harm, as the stream carries the same
/// data; one that is late, repeated or forged is dropped.
/// Threads: unsynchronised.
class PriorityDatagrams {
 public:
  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<PriorityDatagrams> create(const NegotiatedParameters& agreed, const KeySchedule& keys,
                                                        Role role);

  /// payload   1 to kMaxPriorityBytes
  /// errors: Errc::cipher_failed; Errc::key_exhausted
  [[nodiscard]] Result<std::vector<std::byte>> seal(std::span<const std::byte> payload);
  /// The payload, valid until the next call. None: it is not the peer's, or not newer than the last.
  [[nodiscard]] std::optional<std::span<const std::byte>> open(std::span<const std::byte> record);

 private:
  struct TrafficState {
    crypto::HeaderCipher headers;
    Lane lane;
    BlockNumber next = 0;
  };
  PriorityDatagrams(Protection protection, TrafficState outgoing, TrafficState incoming);
  [[nodiscard]] static Result<TrafficState> traffic_state(const NegotiatedParameters& agreed, const KeySchedule& keys,
                                                          Role from, crypto::AeadDirection direction);
  [[nodiscard]] bool open_in_place();

  Protection protection_;
  TrafficState outgoing_;
  TrafficState incoming_;
  std::uint64_t forged_ = 0;
  core::BufferPool memory_;
  Block opened_;
};

}  // namespace udtcat::session
