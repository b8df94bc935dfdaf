// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/receive_buffer.hpp"

#include <cstring>
#include <iterator>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr std::uint64_t kMaxHeldPerKept = 2;  // guess: bytes of chunks for one of payload: trains are half full
constexpr std::size_t kMaxPartialPackets =
    256;                                // guess: as many as a black hole may swallow at once; others are sent again
constexpr std::size_t kMaxCrumbs = 64;  // spec: udt4.md §9: 64 KiB in fragments of 1280 bytes have no more gaps

/// Adds [begin, end) to the ranges.
void cover(std::map<std::size_t, std::size_t>& covered, std::size_t begin, std::size_t end) {
  auto each = covered.upper_bound(begin);
  if (each != covered.begin() && std::prev(each)->second >= begin) --each;
  while (each != covered.end() && each->first <= end) {
    begin = std::min(begin, each->first);
    end = std::max(end, each->second);
    each = covered.erase(each);
  }
  covered.emplace(begin, end);
}

}  // namespace

/// Whether there is memory; for the next packet there is, where the reader has nothing to read.
bool ReceiveBuffer::fits(PacketIndex index, std::size_t bytes) const {
  const std::uint64_t bookkeeping = (readable_.size() + waiting_.size() + 1) * sizeof(Slot);
  return (index == next() && readable_bytes_ == 0) ||
         readable_bytes_ + waiting_bytes_ + bytes + bookkeeping <= limit_bytes();
}

ReceiveBuffer::Outcome ReceiveBuffer::store(PacketIndex index, const Arrival& arrival) {
  if (has(index)) return Outcome::duplicate;
  if (index - next() >= kMaxWindowPackets) return Outcome::no_room;
  if (!fits(index, arrival.payload.size())) return Outcome::no_room;
  Slot slot = slot_for(index, arrival);
  if (!slot.present) return Outcome::no_room;
  place(index, std::move(slot));
  return Outcome::stored;
}

ReceiveBuffer::Outcome ReceiveBuffer::store_fragment(PacketIndex index, const Arrival& arrival, std::size_t offset,
                                                     std::size_t total_bytes) {
  if (has(index)) return Outcome::duplicate;
  const std::size_t end = offset + arrival.payload.size();
  if (end > total_bytes || index - next() >= kMaxWindowPackets) return Outcome::no_room;
  if (!partials_.contains(index) &&
      (partials_.size() >= kMaxPartialPackets || !fits(index, partial_bytes_ + total_bytes)))
    return Outcome::no_room;
  Partial& partial = partials_[index];
  if (partial.bytes.empty()) {
    partial.bytes.resize(total_bytes);
    partial_bytes_ += total_bytes;
  }
  if (partial.bytes.size() != total_bytes || partial.covered.size() >= kMaxCrumbs) return Outcome::no_room;
  std::ranges::copy(arrival.payload, partial.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  cover(partial.covered, offset, end);
  if (partial.covered.size() != 1 || partial.covered.begin()->first != 0 ||
      partial.covered.begin()->second != total_bytes)
    return Outcome::stored;
  const auto whole = partials_.extract(index);
  partial_bytes_ -= total_bytes;
  return store(index, {whole.mapped().bytes, {}});
}

/// Whether the payload is to stay in its chunk, which is as large as its whole train.
bool ReceiveBuffer::worth_keeping(const Arrival& arrival) const {
  if (arrival.chunk.empty()) return false;
  if (ledger_.holds(arrival.chunk)) return true;
  const std::uint64_t held = ledger_.held_bytes() + arrival.chunk.bytes().size();
  return held <= kMaxHeldPerKept * (readable_bytes_ + waiting_bytes_ + arrival.payload.size()) + limit_bytes() / 2;
}

ReceiveBuffer::Slot ReceiveBuffer::slot_for(PacketIndex index, const Arrival& arrival) {
  if (arrival.payload.empty()) return {{}, {}, true};  // its packet has a number, and no need of its chunk
  if (!worth_keeping(arrival)) return copy_of(index, arrival.payload);
  return {arrival.chunk, arrival.payload, true};
}

ReceiveBuffer::Slot ReceiveBuffer::copy_of(PacketIndex index, std::span<const std::byte> payload) {
  auto& [chunk, used_bytes] = index == next() ? shared_in_order_ : shared_ahead_;
  if (chunk.empty() || chunk.bytes().size() - used_bytes < payload.size()) {
    chunk = chunks_.acquire();
    used_bytes = 0;
    if (chunk.empty()) return {};
  }
  const auto room = chunk.bytes().subspan(used_bytes, payload.size());
  std::memcpy(room.data(), payload.data(), payload.size());
  used_bytes += payload.size();
  return {chunk, room, true};
}

void ReceiveBuffer::place(PacketIndex index, Slot slot) {
  received_bytes_ += slot.payload.size();
  waiting_bytes_ += slot.payload.size();
  if (!slot.payload.empty()) ledger_.add(slot.chunk);
  while (waiting_.end_index() <= index) waiting_.push_back({});
  waiting_[index] = std::move(slot);
  while (!waiting_.empty() && waiting_[waiting_.begin_index()].present) {
    Slot& first = waiting_[waiting_.begin_index()];
    waiting_bytes_ -= first.payload.size();
    readable_bytes_ += first.payload.size();
    if (!first.payload.empty()) readable_.push_back(std::move(first));
    waiting_.pop_front();
  }
  while (!partials_.empty() && partials_.begin()->first < next()) {
    partial_bytes_ -= partials_.begin()->second.bytes.size();
    partials_.erase(partials_.begin());
  }
}

std::size_t ReceiveBuffer::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size() && !readable_.empty()) {
    const auto rest = readable_.front().payload.subspan(front_read_bytes_);
    const std::size_t bytes = std::min(rest.size(), into.size() - done);
    std::memcpy(into.data() + done, rest.data(), bytes);
    done += bytes;
    front_read_bytes_ += bytes;
    if (bytes < rest.size()) break;
    ledger_.remove(readable_.front().chunk);
    readable_.pop_front();
    front_read_bytes_ = 0;
  }
  readable_bytes_ -= done;
  read_bytes_ += done;
  return done;
}

}  // namespace udtcat::transport::native
