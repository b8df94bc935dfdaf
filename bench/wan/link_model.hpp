// SPDX-License-Identifier: Apache-2.0
/// The fate of each segment on one direction of the link: sans-I/O, time is a parameter.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "wan/codel.hpp"
#include "wan/flow_policer.hpp"
#include "wan/impairment.hpp"
#include "wan/link_settings.hpp"
#include "wan/policer.hpp"
#include "wan/super_packet.hpp"
#include "wan/time.hpp"
#include "wan/transmitter.hpp"

namespace udtcat::wan {

/// Segments of the packet that waits longest, which leave the queue together.
struct Departure {
  std::size_t first = 0;
  std::size_t count = 0;
  bool is_last = false;  ///< the packet has left the queue whole
  int copies = 1;        ///< so many arrive: 0 of what is lost
  TimePoint due{};       ///< when they arrive
  bool late = false;     ///< overtaken by what came after it
};

struct LinkCounters {
  std::uint64_t segments = 0;       ///< offered
  std::uint64_t bytes = 0;          ///< offered, IP
  std::uint64_t lost = 0;           ///< by chance
  std::uint64_t policed = 0;        ///< above the policer's rate, or the flow's
  std::uint64_t tail_dropped = 0;   ///< the queue was full
  std::uint64_t codel_dropped = 0;  ///< the queue stood
  std::uint64_t blacked_out = 0;    ///< the link was down
  std::uint64_t too_long = 0;       ///< for the path
  std::uint64_t reordered = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t undelivered = 0;  ///< packets that the kernel at the other end did not take

  LinkCounters& operator+=(const LinkCounters& other);
};

/// A policer for each flow and one for all, a bounded queue, a link of a rate, then chance, then a delay. A segment's
/// fate is decided when it leaves. Before offer() or set() at a time, and before set_down(), next_departure() of that
/// time is called until it returns nothing. Threads: unsynchronised.
class LinkModel {
 public:
  LinkModel(const LinkSettings& settings, Random& random, TimePoint now);

  /// Returns how many segments, from the first on, are now in the queue; the others are dropped.
  [[nodiscard]] std::size_t offer(const Shape& shape, TimePoint now, const Flow& flow = {});
  /// The next segments that have left by `now`.
  [[nodiscard]] std::optional<Departure> next_departure(TimePoint now);
  /// When those that leave next arrive, if chance does not decide otherwise.
  [[nodiscard]] std::optional<TimePoint> next_due() const;

  /// From now on, for what waits as well. The rest arrives as it would have.
  void set(const LinkSettings& settings, TimePoint now);
  /// Nothing passes while it is down.
  void set_down(bool down) { down_ = down; }

  /// So many segments that were let through found no memory to wait in.
  void count_overflow(std::size_t segments) { counters_.tail_dropped += segments; }
  void count_undelivered() { ++counters_.undelivered; }
  [[nodiscard]] const LinkCounters& counters() const { return counters_; }

 private:
  /// A packet in the queue, of which the segments from `first` to `end` have not left.
  struct Waiting {
    Shape shape;
    std::size_t first;
    std::size_t end;
    TimePoint since;
    [[nodiscard]] std::size_t wire_bytes(std::size_t count) const { return shape.wire_bytes(first, count); }
  };

  [[nodiscard]] std::size_t conforming(const Shape& shape, TimePoint now, const Flow& flow);
  [[nodiscard]] std::size_t fitting(const Shape& shape, std::size_t most, TimePoint now) const;
  [[nodiscard]] bool has_room(std::size_t bytes, TimePoint now) const;
  [[nodiscard]] std::size_t run_length() const;
  [[nodiscard]] bool codel_drops(TimePoint now);
  [[nodiscard]] Departure leave(std::size_t count);
  void strike(Departure& departure);

  LinkSettings settings_;
  Random& random_;
  FlowPolicer flow_policer_;
  Policer policer_;
  std::deque<Waiting> queue_;
  std::size_t queued_bytes_ = 0;
  Codel codel_;
  bool is_admitted_ = false;  // CoDel has let the first segment pass
  Transmitter transmitter_;
  Impairment loss_;
  Impairment reorder_;
  Impairment duplicate_;
  bool down_ = false;
  LinkCounters counters_;
};

}  // namespace udtcat::wan
