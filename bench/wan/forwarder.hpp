// SPDX-License-Identifier: Apache-2.0
/// Carries packets between the two ends of the link.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "wan/delay_line.hpp"
#include "wan/link_model.hpp"
#include "wan/release_gate.hpp"
#include "wan/tun_device.hpp"

namespace udtcat::wan {

/// One thread reads both devices and writes to both. Threads: unsynchronised.
class Forwarder {
 public:
  Forwarder(TunDevice near, TunDevice far, const PathSettings& path, std::uint64_t seed, TimePoint now);

  /// Takes what has arrived at the ends, up to a bounded number of packets.
  ///
  /// clock   asked after each packet, which was there by then; what it says of an earlier time than before is taken for
  ///         that one
  void take(const std::function<TimePoint()>& clock);
  /// Delivers what is due at `now`, or `early` before it is.
  void deliver(TimePoint now, std::chrono::nanoseconds early);
  /// When deliver() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_due() const;

  void set(const PathSettings& path, TimePoint now);
  void set_down(bool down, TimePoint now);
  [[nodiscard]] bool is_down() const { return down_; }

  [[nodiscard]] TunDevice& near() { return near_; }
  [[nodiscard]] TunDevice& far() { return far_; }
  [[nodiscard]] const LinkCounters& out() const { return out_.model.counters(); }
  [[nodiscard]] const LinkCounters& back() const { return back_.model.counters(); }

 private:
  /// A packet of the model's queue.
  struct Waiting {
    Packet packet;
    Shape shape;
  };
  struct Direction {
    Direction(const LinkSettings& settings, Random& random, TimePoint now)
        : model(settings, random, now), gate(settings.release, random) {}
    LinkModel model;
    std::deque<Waiting> queue;  // the packets of the model's queue, in its order
    DelayLine line;
    ReleaseGate gate;
    [[nodiscard]] std::optional<TimePoint> next_due() const;
  };

  void take(const TunDevice& from, Direction& direction, const std::function<TimePoint()>& clock);
  void enqueue(Packet packet, Direction& direction, TimePoint now);
  /// From the queue to the delay line, all that has left by now.
  void dequeue(Direction& direction, TimePoint now);
  void send_on(Direction& direction, const Departure& departure);
  void deliver(Direction& direction, const TunDevice& to, TimePoint now, std::chrono::nanoseconds early);
  [[nodiscard]] Packet cut(const Waiting& waiting, const Departure& departure);
  [[nodiscard]] Packet shrink(Packet packet);
  void discard(Packet packet);

  TunDevice near_;
  TunDevice far_;
  Random random_;
  Direction out_;
  Direction back_;
  bool down_ = false;
  TimePoint latest_{};
  PacketPool pool_;
};

}  // namespace udtcat::wan
