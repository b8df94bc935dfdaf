// SPDX-License-Identifier: Apache-2.0
/// Carries packets between the two ends of the link.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "wan/delay_line.hpp"
#include "wan/link_model.hpp"
#include "wan/tun_device.hpp"

namespace udtcat::wan {

/// One thread reads both devices and writes to both. Threads: unsynchronised.
class Forwarder {
 public:
  Forwarder(TunDevice near, TunDevice far, const PathSettings& path, std::uint64_t seed);

  /// Takes what has arrived at the ends at `now`, up to a bounded number of packets. Time never goes back: an earlier
  /// `now` than before is taken for that one.
  void take(TimePoint now);
  /// Delivers what is due.
  void deliver(TimePoint now);
  /// When deliver() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_due() const;

  void set(const PathSettings& path);
  void set_down(bool down);
  [[nodiscard]] bool is_down() const { return down_; }

  [[nodiscard]] TunDevice& near() { return near_; }
  [[nodiscard]] TunDevice& far() { return far_; }
  [[nodiscard]] const LinkCounters& out() const { return out_.model.counters(); }
  [[nodiscard]] const LinkCounters& back() const { return back_.model.counters(); }

 private:
  struct Direction {
    LinkModel model;
    DelayLine line;
  };
  void take(const TunDevice& from, const TunDevice& to, Direction& direction, TimePoint now);
  void send_on(Packet packet, const Shape& shape, const TunDevice& to, Direction& direction, TimePoint now);
  void deliver(Direction& direction, const TunDevice& to, TimePoint now);
  void dispatch(Packet packet, const SegmentRun& run, const TunDevice& to, Direction& direction, TimePoint now);
  [[nodiscard]] Packet cut(const Packet& packet, const Shape& shape, const SegmentRun& run);
  static void hand_over(const Packet& packet, const TunDevice& to, Direction& direction);
  void discard(Packet packet);

  TunDevice near_;
  TunDevice far_;
  Random random_;
  Direction out_;
  Direction back_;
  bool down_ = false;
  TimePoint latest_{};
  PacketPool pool_;
  std::vector<SegmentRun> runs_;  // of the packet at hand
};

}  // namespace udtcat::wan
