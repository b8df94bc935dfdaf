// SPDX-License-Identifier: Apache-2.0
/// Carries packets between the two ends of the link.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "wan/delay_line.hpp"
#include "wan/link_model.hpp"
#include "wan/release_gate.hpp"
#include "wan/tun_device.hpp"

namespace udtcat::wan {

/// One thread reads both devices and writes to both. Of several paths each flow takes one, by path_of().
/// Threads: unsynchronised.
class Forwarder {
 public:
  /// paths   one at least
  Forwarder(TunDevice near, TunDevice far, const std::vector<PathSettings>& paths, std::uint64_t seed, TimePoint now);

  /// Takes what has arrived at the ends, up to a bounded number of packets.
  ///
  /// clock   asked after each packet, which was there by then; what it says of an earlier time than before is taken for
  ///         that one
  void take(const std::function<TimePoint()>& clock);
  /// Delivers what is due at `now`, or `early` before it is.
  void deliver(TimePoint now, std::chrono::nanoseconds early);
  /// When deliver() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_due() const;

  /// paths   as many as there are
  void set(const std::vector<PathSettings>& paths, TimePoint now);
  /// All paths, or one, counted from 0; both directions.
  void set_down(bool down, TimePoint now);
  void set_down(std::size_t path, bool down, TimePoint now);
  /// Whether every path is.
  [[nodiscard]] bool is_down() const;

  [[nodiscard]] TunDevice& near() { return near_; }
  [[nodiscard]] TunDevice& far() { return far_; }
  [[nodiscard]] std::size_t paths() const { return paths_.size(); }
  /// Of one path, counted from 0, and of all.
  [[nodiscard]] const LinkCounters& out(std::size_t path) const { return paths_[path].out.model.counters(); }
  [[nodiscard]] const LinkCounters& back(std::size_t path) const { return paths_[path].back.model.counters(); }
  [[nodiscard]] LinkCounters out() const;
  [[nodiscard]] LinkCounters back() const;

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
  struct Path {
    Path(const PathSettings& settings, Random& random, TimePoint now)
        : out(settings.out, random, now), back(settings.back, random, now) {}
    Direction out;
    Direction back;
    bool down = false;
  };

  void take(const TunDevice& from, Direction Path::*way, const std::function<TimePoint()>& clock);
  void enqueue(Packet packet, Direction Path::*way, TimePoint now);
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
  std::deque<Path> paths_;
  TimePoint latest_{};
  PacketPool pool_;
};

}  // namespace udtcat::wan
