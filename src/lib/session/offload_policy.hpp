// SPDX-License-Identifier: Apache-2.0
/// Whether blocks are enciphered on other threads.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>

#include <sys/types.h>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <udtcat/evidence.hpp>

namespace udtcat::session {

/// The time that a thread ran, and that it waited for a core, since it began.
struct SchedulerTimes {
  std::chrono::nanoseconds had{0};
  std::chrono::nanoseconds waited{0};

  [[nodiscard]] ThreadTime thread_time() const {
    using std::chrono::microseconds;
    return {std::chrono::duration_cast<microseconds>(had), std::chrono::duration_cast<microseconds>(waited)};
  }
  /// Of the calling thread; none where the system does not say.
  [[nodiscard]] static std::optional<SchedulerTimes> of_this_thread();
  /// Of a thread of this process, likewise.
  [[nodiscard]] static std::optional<SchedulerTimes> of_thread(pid_t thread);
  /// Of /proc/PID/schedstat's text.  spec: Linux, Documentation/scheduler/sched-stats.rst
  [[nodiscard]] static std::optional<SchedulerTimes> read(std::istream& text);
};

/// Another thread helps only while a core is free for it. Where the io thread itself waits for a core, each block that
/// goes to another thread and back makes both wait longer, with cold caches.
///
///   offloaded ── the io thread waited for a quarter of the time that it could have run ──► inline
///   inline ── after a second, twice as long each time in a row ──► offloaded
///
/// One for each io_context.
/// Threads: confined to the io_context thread.
class OffloadPolicy final : public boost::asio::execution_context::service {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr auto kSampleInterval = std::chrono::milliseconds(100);  // guess: many slices of the scheduler
  static constexpr auto kReadInterval = std::chrono::milliseconds(10);     // guess: many sessions ask at once
  static constexpr auto kFirstInlinePeriod = std::chrono::seconds(1);      // guess: a look at the other way is a tenth
  static constexpr auto kLongestInlinePeriod = std::chrono::seconds(30);   // guess: a busy host may have become idle
  static boost::asio::execution_context::id id;  // spec: Asio: by which an io_context finds its services

  explicit OffloadPolicy(boost::asio::io_context& io) : service(io) {}
  [[nodiscard]] static OffloadPolicy& of(boost::asio::io_context& io) {
    return boost::asio::use_service<OffloadPolicy>(io);
  }

  /// Call for each block; looks at the thread's times now and then.
  [[nodiscard]] bool offloads(TimePoint now) {
    if (now - sampled_at_ >= kSampleInterval) sample(now, SchedulerTimes::of_this_thread());
    return offloads_;
  }
  /// The times of the io_context's thread, on which it is called; at most kReadInterval old.
  [[nodiscard]] ThreadTime thread_time(TimePoint now);
  /// times   of the io_context's thread until now; none: not known, so blocks are offloaded
  void sample(TimePoint now, std::optional<SchedulerTimes> times);
  [[nodiscard]] bool is_offloading() const { return offloads_; }

 private:
  void shutdown() noexcept override {}

  bool offloads_ = true;
  std::chrono::milliseconds inline_period_ = kFirstInlinePeriod;
  TimePoint inline_until_;
  TimePoint sampled_at_;
  std::optional<SchedulerTimes> times_;  // by then
  TimePoint read_at_;
  ThreadTime read_;  // by then
};

}  // namespace udtcat::session
