/// Peers that were turned away, in few lines however many they are.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::tool {

inline constexpr std::size_t kRefusalsTold = 5;              // guess: enough to see a pattern
inline constexpr std::chrono::seconds kRefusalInterval{10};  // guess: seldom enough for a log that nobody rotates

/// In each interval the first kRefusalsTold are told one by one, the others counted.
/// Threads: unsynchronised. No clock: time is a parameter.
class RefusalDigest {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// returns  the line to say now; none if it was only counted
  [[nodiscard]] std::optional<std::string> add(const Endpoint& peer, const Error& why, TimePoint now);
  /// The line about those that were only counted, if there are any; a new interval begins.
  [[nodiscard]] std::optional<std::string> take_count();
  /// When take_count() is due; none if nothing was counted.
  [[nodiscard]] std::optional<TimePoint> count_due() const;

 private:
  TimePoint interval_began_{};
  std::size_t told_ = 0;
  std::size_t counted_ = 0;
};

/// Says what the digest gives, as warnings, by the io_context's clock.
/// Threads: confined to the io_context thread.
class RefusalLog {
 public:
  explicit RefusalLog(boost::asio::io_context& io) : timer_(io) {}

  void add(const Endpoint& peer, const Error& why);

 private:
  static void say(const std::optional<std::string>& line);

  RefusalDigest digest_;
  bool timer_set_ = false;
  boost::asio::steady_timer timer_;
};

}  // namespace udtcat::tool
