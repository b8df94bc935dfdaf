/// Notices beside errors and progress: missing protection, refused peers, a pipe that does not end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::tool {

/// None at `private`, which leaves nothing open that the others close.
[[nodiscard]] std::optional<std::string> protection_notice(Protection protection);
/// Of --plain, which leaves everything open.
[[nodiscard]] std::string plain_notice();

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

inline constexpr std::chrono::milliseconds kNoticePatience{3'000};  // guess: an input that is about to end has ended

/// Stdin and stdout as they are. Where bytes were written to the end, and of the source nothing has ever been read,
/// neither a byte nor its end, `notice` is called once, after a while.
/// Threads: confined to the main thread.
class WaitingNotice final : public LocalStream {
 public:
  WaitingNotice(boost::asio::io_context& io, std::unique_ptr<LocalStream> stdio, std::function<void()> notice,
                std::chrono::milliseconds patience = kNoticePatience)
      : stdio_(std::move(stdio)), notice_(std::move(notice)), patience_(patience), timer_(io) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override { stdio_->async_wait_readable(std::move(handler)); }
  void receipted() override { stdio_->receipted(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return stdio_->source_name(); }
  [[nodiscard]] std::string sink_name() const override { return stdio_->sink_name(); }

 private:
  const std::unique_ptr<LocalStream> stdio_;
  const std::function<void()> notice_;
  const std::chrono::milliseconds patience_;
  bool has_written_ = false;
  bool has_read_ = false;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
