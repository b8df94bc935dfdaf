// SPDX-License-Identifier: Apache-2.0
/// How fast packets leave: congestion control, the pacer that it drives, and the length of trains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <udtcat/known_paths.hpp>
#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/pacer.hpp"
#include "lib/transport/native/sent_packets.hpp"
#include "lib/transport/native/train_length.hpp"

namespace udtcat::transport::native {

/// Threads: unsynchronised; time is a parameter.
class RateControl {
 public:
  /// known_path   as an earlier connection knew it
  RateControl(CongestionSettings settings, TimePoint now, std::size_t payload_bytes,
              const std::optional<KnownPath>& known_path);

  /// See CongestionControl.
  void on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) {
    congestion_->on_sent(now, bytes, in_flight_bytes);
  }
  void on_ack(const AckEvent& event);
  void on_loss(LossEvent event);
  void on_timeout(TimePoint now);
  void on_packet_size(std::size_t payload_bytes) { congestion_->on_packet_size(payload_bytes); }
  [[nodiscard]] std::uint64_t window_bytes() const { return congestion_->window_bytes(); }
  [[nodiscard]] BitRate path_rate() const { return congestion_->path_rate(); }
  [[nodiscard]] std::optional<KnownPath> known_path() const { return congestion_->known_path(); }

  /// Congestion control begins anew: what it has learned was no congestion's.
  void restart(TimePoint now, std::size_t payload_bytes);
  /// On another path nothing that was learned counts.
  void on_new_path(TimePoint now, std::size_t payload_bytes);
  /// A train of new data has left.
  void on_train_sent(TimePoint now);
  /// A packet is lost that was sent once, in a train of new data, while the round trip showed no queue.
  void on_train_loss(TimePoint now, const SentPacket& lost, std::size_t payload_bytes);

  [[nodiscard]] Pacer& pacer() { return pacer_; }
  [[nodiscard]] const Pacer& pacer() const { return pacer_; }
  /// The cap is less than what the path has shown: without it congestion control would send faster.
  [[nodiscard]] bool is_at_cap() const;

 private:
  void update_pacing();

  CongestionSettings settings_;
  std::unique_ptr<CongestionControl> congestion_;
  Pacer pacer_;
  TrainLength train_length_;
  bool trains_shortened_ = false;  // since the last loss event
};

}  // namespace udtcat::transport::native
