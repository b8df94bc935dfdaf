// SPDX-License-Identifier: Apache-2.0
/// Events whose lines are limited: in a flood of equal events one line stands for many.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"
#include "tool/cli/log_event.hpp"

namespace udtcat::tool {

/// Each kind of event has lines at once, of which it gets one back with each interval. What comes when they are used up
/// is counted, and told by one line at the end of the interval: its count, bytes and files are those of all of them.
/// Beyond kMaxKinds all others of one EventKind are one kind.
/// Threads: unsynchronised. No clock: time is a parameter.
class EventLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kInterval{10};  // guess: as kLogInterval
  static constexpr std::size_t kMaxKinds = 64;          // guess: 46,000 lines an hour if all are used up all the time

  explicit EventLimit(std::size_t at_once) : at_once_(at_once) {}

  /// kind   events of one kind have one peer, or otherwise sum up to something that makes sense
  /// returns  the event, to be told now; none if it was counted
  [[nodiscard]] std::optional<LogEvent> add(const std::string& kind, const LogEvent& event, TimePoint now);
  /// The sums of those kinds whose interval is over.
  [[nodiscard]] std::vector<LogEvent> take_due(TimePoint now);
  /// When take_due() has something; none if nothing is counted.
  [[nodiscard]] std::optional<TimePoint> next_due() const;

 private:
  struct Kind {
    std::string name;
    std::size_t left;
    TimePoint refilled_at;
    std::optional<LogEvent> counted{};
    TimePoint due{};
  };

  /// otherwise   the name of the kind where there is no room for another
  Kind& kind_named(std::string_view name, std::string_view otherwise, TimePoint now);
  void refill(Kind& kind, TimePoint now) const;

  const std::size_t at_once_;
  std::vector<Kind> kinds_;
};

/// Logs events within an EventLimit, by the io_context's clock.
/// Threads: confined to the io_context thread.
class EventLog {
 public:
  EventLog(boost::asio::io_context& io, std::size_t at_once) : limit_(at_once), timer_(io) {}

  void report(const std::string& kind, const LogEvent& event);
  /// Tells what is counted: the process is about to end.
  void flush();

 private:
  void set_timer();

  EventLimit limit_;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
