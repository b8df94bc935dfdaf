/// Trouble that repeats, told in few lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::bridge {

inline constexpr auto kTroubleInterval =
    std::chrono::seconds(10);                        // guess: often enough to follow, seldom enough to read
inline constexpr std::size_t kMaxTroubleKinds = 64;  // guess: more kinds at a time are one kind: chaos

/// Lets the first of each kind of trouble through at once, and then at most one line of that kind an interval, which says
/// how many it stands for. Two are of a kind if their text is the same. Beyond kMaxTroubleKinds the oldest is forgotten.
/// Threads: unsynchronised. No clock: time is a parameter.
class TroubleDigest {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Line {
    Endpoint where;  ///< of the latest it stands for
    Error error;
  };

  /// returns  what to tell now; none if it was counted for later
  [[nodiscard]] std::optional<Line> add(const Endpoint& where, const Error& error, TimePoint now);
  /// The counted kinds whose interval is over.
  [[nodiscard]] std::vector<Line> take_due(TimePoint now);
  /// When take_due() has something; none if nothing is counted.
  [[nodiscard]] std::optional<TimePoint> next_due() const;

 private:
  struct Kind {
    Line latest;
    std::string text;
    TimePoint told_at;
    std::size_t counted = 0;  // since told_at
  };

  void make_room(TimePoint now);

  std::vector<Kind> kinds_;  // by told_at, oldest first
};

/// Whether the operator of this end should hear how a stream ended. That one side of a stream hung up or reset it is daily
/// life; what broke the whole connection is told once, by the connection; and the other end's operator hears of its own
/// disk and sockets. What remains: this end's reading, writing and resources failing in another way than by a plain
/// disconnect, and a service that the other end could not reach or would not serve.
[[nodiscard]] bool is_trouble(const Error& stream_error);

}  // namespace udtcat::bridge
