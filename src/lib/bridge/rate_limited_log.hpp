// SPDX-License-Identifier: Apache-2.0
/// A log whose lines are limited: of errors that repeat one stands for many.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

inline constexpr auto kLogInterval = std::chrono::seconds(10);  // guess: often enough to follow, seldom enough to read
inline constexpr std::size_t kMaxLogKinds = 64;                 // guess: far more than a program has kinds of errors

/// Lets the first error of each kind through at once, or the first few, and then at most one line of that kind an
/// interval, which says how many it stands for. Two are of a kind if their KindOf is the same. Beyond kMaxLogKinds
/// the oldest is forgotten.
/// Threads: unsynchronised. No clock: time is a parameter.
class LogRateLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  /// The name of a kind: two errors of one name are of one kind. By default the text.
  using KindOf = std::function<std::string(const Error&)>;
  struct Line {
    Endpoint where;  ///< of the latest it stands for
    Error error;
  };

  /// most_at_once   lines of each kind that are told before they are counted
  explicit LogRateLimit(KindOf kind_of = &Error::message, std::size_t most_at_once = 1)
      : kind_of_(std::move(kind_of)), most_at_once_(most_at_once) {}

  /// returns  the line to write now; none if the error was counted for later
  [[nodiscard]] std::optional<Line> add(const Endpoint& where, const Error& error, TimePoint now);
  /// The counted kinds whose interval is over.
  [[nodiscard]] std::vector<Line> take_due(TimePoint now);
  /// When take_due() has something; none if nothing is counted.
  [[nodiscard]] std::optional<TimePoint> next_due() const;

 private:
  struct Kind {
    Line latest;
    std::string name;
    TimePoint told_at;
    std::size_t told_at_once = 1;
    std::size_t counted = 0;  // since told_at
  };

  void make_room(TimePoint now);

  const KindOf kind_of_;
  const std::size_t most_at_once_;
  std::vector<Kind> kinds_;  // by told_at, oldest first
};

/// Logs errors for the operator within a LogRateLimit, by the io_context's clock.
/// Threads: confined to the io_context thread. The handler is called from report() and from the timer, and must not
/// destroy this.
class RateLimitedLog {
 public:
  using Handler = std::function<void(const Endpoint& where, const Error& error)>;

  RateLimitedLog(boost::asio::io_context& io, Handler handler, LogRateLimit::KindOf kind_of = &Error::message,
                 std::size_t most_at_once = 1);
  void report(const Endpoint& where, const Error& error);

 private:
  void set_timer();

  LogRateLimit limit_;
  const Handler handler_;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

/// Whether the operator of this end should read of a stream's error. A side of a stream that hung up or reset it is
/// daily life; an error of the whole connection is told once, by the connection; and the other end's operator reads of
/// its own disk and sockets. Loggable are the rest: reading, writing and resources of this end that fail in another way
/// than by a plain disconnect, and a service that the other end could not reach or would not serve.
[[nodiscard]] bool is_loggable(const Error& stream_error);

}  // namespace udtcat::bridge
