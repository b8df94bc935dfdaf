// SPDX-License-Identifier: Apache-2.0
/// The packets that have left and are not acknowledged, and how many bytes of them are in flight, delivered or lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/transport/native/delivery_rate.hpp"
#include "lib/transport/native/sequence.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A packet sent and not acknowledged.
struct SentPacket {
  std::uint64_t offset = 0;  ///< in the byte stream
  std::uint32_t bytes = 0;   ///< of payload
  std::uint16_t sends = 0;
  bool lost = false;                ///< and not sent again yet
  bool presumed_delivered = false;  ///< by LossInference
  bool expired = false;             ///< by LossInference
  std::uint8_t train_packets = 0;   ///< of the train that it left with the first time
  std::uint8_t train_place = 0;     ///< in that
  TimePoint sent_at{};              ///< the last time
  DeliverySnapshot snapshot;        ///< of the last time
};

/// Each packet is in flight, lost, presumed delivered or expired.
/// source: RFC 9002 §A.1 (sent_packets), §B.2 (bytes_in_flight)
/// Threads: unsynchronised.
class SentPackets {
 public:
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] std::size_t size() const { return packets_.size(); }
  [[nodiscard]] PacketIndex begin_index() const { return packets_.begin_index(); }
  [[nodiscard]] PacketIndex end_index() const { return packets_.end_index(); }
  [[nodiscard]] bool contains(PacketIndex index) const { return packets_.contains(index); }
  [[nodiscard]] SentPacket& operator[](PacketIndex index) { return packets_[index]; }
  [[nodiscard]] const SentPacket& operator[](PacketIndex index) const { return packets_[index]; }
  [[nodiscard]] const SentPacket& oldest() const { return packets_[packets_.begin_index()]; }
  /// Of the packets that are lost, the lowest index.
  [[nodiscard]] bool has_lost() const { return !lost_.empty(); }
  [[nodiscard]] PacketIndex first_lost() const { return lost_.front(); }

  /// Offset in the stream past the last byte that has left at least once.
  [[nodiscard]] std::uint64_t sent_offset() const { return sent_offset_; }
  /// Offset in the stream of the first byte that is not acknowledged.
  [[nodiscard]] std::uint64_t acknowledged_offset() const { return empty() ? sent_offset_ : oldest().offset; }
  /// In any order, as far as it is known.
  [[nodiscard]] std::uint64_t delivered_bytes() const {
    return std::max(reported_bytes_, acknowledged_bytes_ + presumed_bytes_);
  }
  /// As the peer has reported it.
  [[nodiscard]] std::uint64_t reported_bytes() const { return reported_bytes_; }
  [[nodiscard]] std::uint64_t in_flight_bytes() const {
    return difference(difference(sent_offset_, delivered_bytes()), lost_bytes_ + expired_bytes_);
  }
  /// In flight without what the packet itself adds.
  [[nodiscard]] std::uint64_t in_flight_bytes_without(PacketIndex index) const {
    const SentPacket& packet = packets_[index];
    return difference(in_flight_bytes(), packet.sends == 0 || packet.lost ? 0 : packet.bytes);
  }

  /// Of new data: on_sent() follows.
  PacketIndex add(std::uint32_t bytes) {
    packets_.push_back({.offset = sent_offset_, .bytes = bytes, .snapshot = {}});
    return packets_.end_index() - 1;
  }
  /// The packet leaves, for the first time or again.
  void on_sent(TimePoint now, PacketIndex index, const DeliverySnapshot& snapshot) {
    SentPacket& packet = packets_[index];
    take_off_lost(index);
    if (packet.sends == 0) sent_offset_ += packet.bytes;
    packet.sends = static_cast<std::uint16_t>(std::min(packet.sends + 1, 0xffff));
    packet.sent_at = now;
    packet.snapshot = snapshot;
  }
  /// All packets before `next` are acknowledged.  returns   whether one of them was sent more than once
  bool acknowledge_before(PacketIndex next) {
    bool resent = false;
    for (; !empty() && begin_index() < next; packets_.pop_front()) {
      resent = resent || oldest().sends > 1;
      take_back_guesses(packets_[begin_index()]);
      take_off_lost(begin_index());
      acknowledged_bytes_ += oldest().bytes;
    }
    return resent;
  }
  void on_reported(std::uint64_t delivered_bytes) { reported_bytes_ = std::max(reported_bytes_, delivered_bytes); }
  void mark_lost(PacketIndex index) {
    SentPacket& packet = packets_[index];
    take_back_guesses(packet);
    packet.lost = true;
    lost_.insert(index);
    lost_bytes_ += packet.bytes;
  }
  /// The peer, which reports no bytes, has the packet in all likelihood.
  void presume_delivered(PacketIndex index) {
    SentPacket& packet = packets_[index];
    take_back_guesses(packet);
    packet.presumed_delivered = true;
    presumed_bytes_ += packet.bytes;
  }
  /// The packet has left the path, delivered or not: it keeps no other from leaving.
  void expire(PacketIndex index) {
    packets_[index].expired = true;
    expired_bytes_ += packets_[index].bytes;
  }

 private:
  static std::uint64_t difference(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }
  void take_back_guesses(SentPacket& packet) {
    if (std::exchange(packet.presumed_delivered, false)) presumed_bytes_ -= packet.bytes;
    if (std::exchange(packet.expired, false)) expired_bytes_ -= packet.bytes;
  }
  void take_off_lost(PacketIndex index) {
    if (!std::exchange(packets_[index].lost, false)) return;
    lost_.erase(index);
    lost_bytes_ -= packets_[index].bytes;
  }

  IndexedRing<SentPacket> packets_;
  IndexRanges lost_;
  std::uint64_t lost_bytes_ = 0;
  std::uint64_t presumed_bytes_ = 0;
  std::uint64_t expired_bytes_ = 0;
  std::uint64_t sent_offset_ = 0;
  std::uint64_t acknowledged_bytes_ = 0;
  std::uint64_t reported_bytes_ = 0;
};

}  // namespace udtcat::transport::native
