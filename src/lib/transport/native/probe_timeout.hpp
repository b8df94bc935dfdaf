// SPDX-License-Identifier: Apache-2.0
/// The probe timeout (PTO): when silence is taken for loss, and how much may then be sent regardless of any window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

///   idle ──arm()──► armed ──fire(), packets in flight──► probing ──its packets have left──► armed
///                     │  └──fire(), none in flight──► probing_window ──one packet has left──► armed
///                     └──allow(): packets that are lost again──► probing
///   any ──disarm(): no answer is due──► idle
///
/// The timer runs in every state but idle.
/// source: RFC 9002 §6.2, with UDT's NAK in place of selective acknowledgements
/// Threads: unsynchronised; time is a parameter.
class ProbeTimeout {
 public:
  enum class State { idle, armed, probing, probing_window };

  /// The timer ends `wait` after `since`, doubled with each probe in a row, at most `longest` after it, and not before
  /// `now`.
  void arm(TimePoint now, TimePoint since, Duration wait, Duration longest) {
    if (state_ == State::idle) state_ = State::armed;
    at_ = std::max(now, since + std::min<Duration>(wait * (1U << std::min(count_, 8U)), std::max(longest, wait)));
  }
  void disarm() {
    state_ = State::idle;
    at_ = TimePoint::max();
  }
  /// On another path: the next probe is due at once.
  void restart(TimePoint now) {
    if (state_ == State::idle) state_ = State::armed;
    count_ = 0;
    at_ = now;
  }

  /// The timer has ended: a probe is due.
  void fire(bool in_flight) {
    ++count_;
    if (std::exchange(heard_, false)) ++count_while_heard_;
    if (in_flight)
      allow(kProbePackets, kProbeFragments);
    else
      state_ = State::probing_window;
  }
  /// So many lost packets may be sent again regardless of window and pacer; of packets in fragments, so many fragments.
  void allow(std::size_t packets, std::size_t pieces) {
    state_ = State::probing;
    packets_left_ = packets;
    fragments_left_ = pieces;
  }
  void on_retransmission_sent() {
    if (packets_left_ > 0) --packets_left_;
    rearm_if_spent();
  }
  void on_fragment_sent() {
    if (fragments_left_ > 0) --fragments_left_;
    rearm_if_spent();
  }
  /// Whether one packet may leave beyond the peer's flow window.
  [[nodiscard]] bool probes_window() const { return state_ == State::probing_window; }
  /// Whether the next lost packet may be sent again regardless of window and pacer.
  [[nodiscard]] bool probes() const { return state_ == State::probing; }
  void on_window_probe_sent() { state_ = State::armed; }

  /// An ACK has acknowledged something.
  void on_progress() { count_ = count_while_heard_ = 0; }
  /// A packet has come from the peer.
  void on_heard() { heard_ = true; }

  [[nodiscard]] State state() const { return state_; }
  /// TimePoint::max() while idle.
  [[nodiscard]] TimePoint deadline() const { return at_; }
  /// Probes in a row without an answer.
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Of those, the probes since which packets of the peer have come, though no acknowledgement.
  [[nodiscard]] std::uint32_t count_while_heard() const { return count_while_heard_; }
  /// A packet of the peer has come since the last probe.
  [[nodiscard]] bool heard() const { return heard_; }

 private:
  static constexpr std::size_t kProbePackets = 2;  // the oldest and the newest
  static constexpr std::size_t kProbeFragments =
      8;  // guess: all fragments of 64 KiB at once may never fit the queue that lost the packet

  void rearm_if_spent() {
    if (state_ == State::probing && (packets_left_ == 0 || fragments_left_ == 0)) state_ = State::armed;
  }

  State state_ = State::idle;
  TimePoint at_ = TimePoint::max();
  std::uint32_t count_ = 0;
  std::uint32_t count_while_heard_ = 0;
  bool heard_ = false;
  std::size_t packets_left_ = 0;  // of the allowance, while probing
  std::size_t fragments_left_ = 0;
};

}  // namespace udtcat::transport::native
