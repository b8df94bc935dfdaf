// SPDX-License-Identifier: Apache-2.0
/// The progress of a run for a person at a terminal: twice a second a line of what moves, or of what is waited for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>

#include "tool/cli/console.hpp"
#include "tool/cli/options.hpp"
#include "tool/status/progress.hpp"
#include "tool/status/stats_text.hpp"

namespace udtcat::tool {

/// Threads: confined to the main thread, which runs the io_context.
class ProgressTicker {
 public:
  /// Whether a person watches progress, if the options do not say.
  [[nodiscard]] static bool person_watches(const Options& options);

  ProgressTicker(boost::asio::io_context& io, Console& console, const Options& options);

  /// The run waits for something other than data; empty: no longer. Shown with progress, and, before there is a peer,
  /// on a terminal once it takes long.
  void wait_for(std::string what);
  /// As wait_for(), for a program of the user that may write to the same terminal: an unfinished line is shown there
  /// only while data move.
  void wait_for_program(std::string what);
  /// amount   how much there is to move, for progress; none: not known. Called until the run has ended
  void measure(std::function<std::optional<Amount>(const ConnectionStats&)> amount) { amount_ = std::move(amount); }
  void watch(std::function<ConnectionStats()> stats);

  [[nodiscard]] bool shows_progress() const { return shows_progress_; }
  /// There is a peer.
  [[nodiscard]] bool watches() const { return stats_ != nullptr; }
  /// Now, since watch().  Only while watches().
  [[nodiscard]] Sample sample() const { return {stats_(), Clock::now() - started_}; }
  /// One line; the rate is that of the whole run.
  [[nodiscard]] std::string state_text() const;

 private:
  using Clock = std::chrono::steady_clock;
  /// A wait for a program that writes to the same terminal, where no line is left open under its words.
  struct ProgramWait {
    std::string untold;  // what a line of its own is to say once nothing moves; empty: it has been said
    std::uint64_t bytes_at_last_tick;
  };

  void tick();
  void show();
  [[nodiscard]] std::uint64_t moved_bytes() const;
  [[nodiscard]] std::string waiting_text() const;
  [[nodiscard]] ProgressSnapshot snapshot() const;

  Console& console_;
  const std::chrono::milliseconds idle_timeout_;
  const bool shows_progress_;
  const bool says_waiting_;
  boost::asio::steady_timer timer_;
  bool ticks_ = false;
  Progress progress_;
  std::function<ConnectionStats()> stats_;  // none before there is a peer
  std::function<std::optional<Amount>(const ConnectionStats&)> amount_;
  Clock::time_point started_;
  std::string waits_;  // what for; empty: nothing but data
  Clock::time_point waits_since_;
  std::optional<ProgramWait> program_;
};

}  // namespace udtcat::tool
