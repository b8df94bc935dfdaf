// SPDX-License-Identifier: Apache-2.0
/// The probe timeout: when silence is taken for loss, and what may then leave to ask.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

///   idle ──arm()──► armed ──fire(), packets in flight──► probing ──its packets have left──► armed
///                     │  └──fire(), none in flight──► probing_window ──one packet has left──► armed
///                     └──allow(): copies that are overdue──► probing
///   any ──disarm(): nothing is waited for──► idle
///
/// The timer runs in every state but idle.
/// source: RFC 9002 §6.2, with UDT's NAK in place of selective acknowledgements
/// Threads: unsynchronised; time is a parameter.
class ProbeTimeout {
 public:
  enum class State { idle, armed, probing, probing_window };

  /// The timer ends `wait` after `since`, doubled with each probe in a row, but `longest` after it at most, and not
  /// before `now`.
  void arm(TimePoint now, TimePoint since, Duration wait, Duration longest) {
    if (state_ == State::idle) state_ = State::armed;
    at_ = std::max(now, since + std::min<Duration>(wait * (1U << std::min(count_, 8U)), std::max(longest, wait)));
  }
  void disarm() {
    state_ = State::idle;
    at_ = TimePoint::max();
  }
  /// On another path: ask at once.
  void restart(TimePoint now) {
    if (state_ == State::idle) state_ = State::armed;
    count_ = 0;
    at_ = now;
  }

  /// The timer has ended: one more probe leaves.
  void fire(bool in_flight) {
    ++count_;
    if (std::exchange(heard_, false)) ++count_while_heard_;
    if (in_flight)
      allow(kProbePackets, kProbePieces);
    else
      state_ = State::probing_window;
  }
  /// So many repairs leave whatever window and pacer say; of packets that have to be cut, so many pieces.
  void allow(std::size_t packets, std::size_t pieces) {
    state_ = State::probing;
    packets_left_ = packets;
    pieces_left_ = pieces;
  }
  void on_repair_sent() {
    if (packets_left_ > 0) --packets_left_;
    settle();
  }
  void on_piece_sent() {
    if (pieces_left_ > 0) --pieces_left_;
    settle();
  }
  /// Whether one packet may leave beyond the peer's window.
  [[nodiscard]] bool probes_window() const { return state_ == State::probing_window; }
  /// Whether the next repair leaves whatever window and pacer say.
  [[nodiscard]] bool probes() const { return state_ == State::probing; }
  void on_window_probe_sent() { state_ = State::armed; }

  /// Something of ours was acknowledged.
  void on_progress() { count_ = count_while_heard_ = 0; }
  /// Anything at all came from the peer.
  void on_heard() { heard_ = true; }

  [[nodiscard]] State state() const { return state_; }
  /// TimePoint::max() while idle.
  [[nodiscard]] TimePoint deadline() const { return at_; }
  /// Probes in a row without an answer.
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Of those, the ones during which something else was heard.
  [[nodiscard]] std::uint32_t count_while_heard() const { return count_while_heard_; }
  /// Anything at all came since the last probe.
  [[nodiscard]] bool heard() const { return heard_; }

 private:
  static constexpr std::size_t kProbePackets = 2;  // the oldest and the newest
  static constexpr std::size_t kProbePieces = 8;   // guess: all of 64 KiB at once may never fit the queue that cost it

  void settle() {
    if (state_ == State::probing && (packets_left_ == 0 || pieces_left_ == 0)) state_ = State::armed;
  }

  State state_ = State::idle;
  TimePoint at_ = TimePoint::max();
  std::uint32_t count_ = 0;
  std::uint32_t count_while_heard_ = 0;
  bool heard_ = false;
  std::size_t packets_left_ = 0;  // of the allowance, while probing
  std::size_t pieces_left_ = 0;
};

}  // namespace udtcat::transport::native
