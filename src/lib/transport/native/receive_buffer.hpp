// SPDX-License-Identifier: Apache-2.0
/// Packets that have arrived, in order or not, and were not read yet.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include <udtcat/units.hpp>

#include "lib/core/chunk.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// The chunks that a buffer refers to, and their memory. References to one chunk come and go together, so the entry
/// that was used last is cached.
/// Threads: unsynchronised.
class ChunkLedger {
 public:
  [[nodiscard]] bool holds(const core::ChunkRef& chunk) const {
    const std::byte* const key = chunk.bytes().data();
    return (last_ != nullptr && last_key_ == key) || counts_.contains(key);
  }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }

  void add(const core::ChunkRef& chunk) {
    std::uint32_t& count = count_of(chunk);
    if (count++ == 0) held_bytes_ += chunk.bytes().size();
  }
  /// One that was added.
  void remove(const core::ChunkRef& chunk) {
    if (--count_of(chunk) > 0) return;
    held_bytes_ -= chunk.bytes().size();
    counts_.erase(last_key_);
    last_ = nullptr;
  }

 private:
  std::uint32_t& count_of(const core::ChunkRef& chunk) {
    const std::byte* const key = chunk.bytes().data();
    if (last_ == nullptr || last_key_ != key) {
      last_ = &counts_[key];
      last_key_ = key;
    }
    return *last_;
  }

  std::unordered_map<const std::byte*, std::uint32_t> counts_;
  const std::byte* last_key_ = nullptr;
  std::uint32_t* last_ = nullptr;  // of last_key_; an element of a map stays where it is
  std::uint64_t held_bytes_ = 0;
};

/// One packet's payload as it arrived.
struct Arrival {
  std::span<const std::byte> payload;
  core::ChunkRef chunk;              ///< holds the payload
  std::chrono::nanoseconds when{0};  ///< by the system's clock; zero where it does not say
};

/// A payload stays in the memory that the kernel filled, and is copied once, to its reader. Only where the chunks take
/// much more memory than the payloads in them, a payload is copied into a chunk that small ones share.
/// Bounded, bookkeeping included: at limit_bytes() a packet is taken only if it is the next and the reader has nothing
/// to read. The limit starts small and follows what is read: bytes of a peer that is not authenticated may never be.
/// Threads: unsynchronised.
class ReceiveBuffer {
  struct Slot {
    core::ChunkRef chunk;
    std::span<const std::byte> payload;
    bool present = false;
  };

 public:
  enum class Outcome { stored, duplicate, no_room };

  /// most_bytes   to which the limit may grow
  ReceiveBuffer(std::uint64_t most_bytes, core::ChunkPool& chunks) : most_bytes_(most_bytes), chunks_(chunks) {}

  [[nodiscard]] Outcome store(PacketIndex index, const Arrival& arrival);
  /// A fragment of a packet (udt4.md §9). Fragments may overlap.
  /// total_bytes   of the whole packet; at least 1
  [[nodiscard]] Outcome store_fragment(PacketIndex index, const Arrival& arrival, std::size_t offset,
                                       std::size_t total_bytes);
  [[nodiscard]] bool has(PacketIndex index) const {
    return index < next() || (waiting_.contains(index) && waiting_[index].present);
  }

  /// All packets before this one have arrived.
  [[nodiscard]] PacketIndex next() const { return waiting_.begin_index(); }
  [[nodiscard]] std::size_t read(std::span<std::byte> into);
  [[nodiscard]] std::uint64_t readable_bytes() const { return readable_bytes_; }
  /// Of all distinct packets so far.
  [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_; }
  /// Of received_bytes(), those before the first gap.
  [[nodiscard]] std::uint64_t in_order_bytes() const { return received_bytes_ - waiting_bytes_; }
  /// Room for data in packets that are not tiny: the bookkeeping of those is left out.
  [[nodiscard]] std::uint64_t free_bytes() const {
    const std::uint64_t used = readable_bytes_ + readable_.size() * sizeof(Slot);
    const std::uint64_t free = limit_bytes() > used ? limit_bytes() - used : 0;
    return free - free / kBookkeepingShare;
  }
  /// The memory of all chunks that payloads are kept in.
  [[nodiscard]] std::uint64_t held_bytes() const { return ledger_.held_bytes(); }
  [[nodiscard]] std::uint64_t limit_bytes() const {
    if (trusted_) return most_bytes_;
    return std::min(most_bytes_, std::max(kFirstLimitBytes, kFlightsAhead * read_bytes_));
  }
  /// The peer is authenticated: the limit is most_bytes from now on.
  void trust_writer() { trusted_ = true; }

 private:
  struct Partial {
    std::vector<std::byte> bytes;
    std::map<std::size_t, std::size_t> covered;  // begin to end, neither overlapping nor adjacent
  };

  [[nodiscard]] bool fits(PacketIndex index, std::size_t bytes) const;
  [[nodiscard]] bool worth_keeping(const Arrival& arrival) const;
  [[nodiscard]] Slot slot_for(PacketIndex index, const Arrival& arrival);
  [[nodiscard]] Slot copy_of(PacketIndex index, std::span<const std::byte> payload);
  void place(PacketIndex index, Slot slot);

  // While a flight is read the next one, twice as large, is on its way, and a third is being retransmitted.
  static constexpr std::uint64_t kFlightsAhead = 8;              // guess: and one more
  static constexpr std::uint64_t kBookkeepingShare = 32;         // guess: a slot beside a packet of 1280 bytes
  static constexpr std::uint64_t kFirstLimitBytes = 512 * kKiB;  // guess: more than any first flight

  const std::uint64_t most_bytes_;
  core::ChunkPool& chunks_;
  std::deque<Slot> readable_;
  IndexedRing<Slot> waiting_;  // from next() on, with gaps
  std::map<PacketIndex, Partial> partials_;
  std::uint64_t partial_bytes_ = 0;
  /// A chunk that copied payloads share.
  struct Shared {
    core::ChunkRef chunk;
    std::size_t used_bytes = 0;
  };
  Shared shared_in_order_;
  Shared shared_ahead_;  // of payloads behind a gap, which stay longer than those in order
  ChunkLedger ledger_;
  std::size_t front_read_bytes_ = 0;  // of the first of readable_
  std::uint64_t readable_bytes_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t read_bytes_ = 0;
  bool trusted_ = false;
};

}  // namespace udtcat::transport::native
