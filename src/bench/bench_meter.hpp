// SPDX-License-Identifier: Apache-2.0
/// The end of a bench that dialled: it measures the path empty, then one way, then the other.
/// Docs: docs/spec/bench.md.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>

#include "bench/bench_lines.hpp"
#include "bench/bench_message.hpp"
#include "bench/bench_result.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bench {

/// One measurement over one connection.
///
///   idle ── a dozen round trips ──► loaded (out) ── its bytes have come ──► drained ── the last answer ──► counting
///                                   loaded (back) ◄──────────────────── one more answer ─────────────────────┘
///                                       └── likewise ──► drained ──► counting ──► closing ──► over
///
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction.
class BenchMeter {
 public:
  struct Handlers {
    std::function<void(const char* step)> on_step;  ///< for a person who waits
    /// Once, when the connection has ended. Well: all is measured.
    std::function<void(const Status&, const BenchResult& so_far)> on_over;
  };

  BenchMeter(boost::asio::io_context& io, std::unique_ptr<Connection> connection, std::chrono::seconds each_way,
             Handlers handlers);
  BenchMeter(const BenchMeter&) = delete;
  BenchMeter& operator=(const BenchMeter&) = delete;

  void start();
  [[nodiscard]] Connection& connection() { return *connection_; }

 private:
  enum class State { idle, loaded, drained, counting, closing };

  void begin_phase(std::chrono::seconds time);
  void on_late();
  void send_request();
  void send_request_soon();
  void on_response(const Result<std::string>& line);
  void load(BenchDirection direction);
  void on_loaded(const StreamOutcome& outcome);
  void request_counters();
  [[nodiscard]] DirectionResult direction_result(bool is_cut);
  [[nodiscard]] BenchCounters counters_here();
  [[nodiscard]] BenchResult result_so_far();
  void give_up(const Error& why);
  void on_closed(const Status& status);

  const std::chrono::seconds each_way_;
  const Handlers handlers_;
  BenchResult result_;
  State state_ = State::idle;
  std::optional<Error> error_;  // what went wrong first
  std::uint64_t number_ = 0;    // of the last question
  bool request_pending_ = false;
  bool request_written_ = false;  // all of the last question has been taken
  std::chrono::steady_clock::time_point requested_at_;
  BenchResponse response_;                             // the last
  std::chrono::steady_clock::time_point phase_began_;  // of the idle path's, or of the way's
  BenchDirection direction_ = BenchDirection::out;
  RoundTrips loaded_;
  BenchCounters here_before_;
  BenchCounters there_before_;
  BothEndsStats ends_before_;
  std::optional<BothEndsStats> ends_after_;  // of the moment when its last byte was receipted
  std::shared_ptr<Goodput> goodput_ = std::make_shared<Goodput>();
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer deadline_;  // of the phase
  const std::unique_ptr<Connection> connection_;
  std::optional<BenchLines> lines_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bench
