// SPDX-License-Identifier: Apache-2.0
/// Ends a child by a series of signals.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// A signal, sent `wait` after the step before.
struct TerminationStep {
  std::chrono::milliseconds wait;
  int signal;
};
using TerminationSteps = std::array<TerminationStep, 3>;

/// For a child whose user has interrupted it.  spec: docs/spec/rsh.md §5
extern const TerminationSteps kInterruptedSteps;
/// For a child whose peer was lost.  spec: docs/spec/rsh.md §5
extern const TerminationSteps kLostSteps;

/// Signals the process group that a child leads, step by step, until it has no member. The child's stdin is not
/// touched: see ChildWatchdog.
/// Threads: confined to the io_context thread, where the handler is called, once, not from inside the constructor.
class ChildTermination {
 public:
  ChildTermination(boost::asio::io_context& io, ChildProcess& child, const TerminationSteps& steps,
                   std::function<void()> on_gone);
  ChildTermination(const ChildTermination&) = delete;
  ChildTermination& operator=(const ChildTermination&) = delete;
  /// Kills the group's members that are left.
  ~ChildTermination();

  [[nodiscard]] bool is_over() const { return over_; }

 private:
  using Clock = std::chrono::steady_clock;

  void poll_later();
  void poll();
  [[nodiscard]] bool group_is_gone() const;

  ChildProcess& child_;
  const TerminationSteps& steps_;
  std::function<void()> on_gone_;
  std::size_t sent_ = 0;  // of the steps
  Clock::time_point next_;
  bool warned_ = false;
  bool over_ = false;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

/// A child, and its termination where the session that it serves ends first.
/// Threads: confined to the io_context thread.
class SupervisedChild {
 public:
  /// on_gone   called when the child has ended, and again when a termination is over
  SupervisedChild(boost::asio::io_context& io, std::function<void()> on_gone) : io_(io), on_gone_(std::move(on_gone)) {}
  SupervisedChild(const SupervisedChild&) = delete;
  SupervisedChild& operator=(const SupervisedChild&) = delete;
  /// Kills a child that lives, and its group with it.
  ~SupervisedChild() = default;

  /// Once. `on_end` comes before on_gone.  errors: as ChildProcess::start()
  [[nodiscard]] Status start(const ChildRequest& request, std::function<void(const ChildExit&)> on_end);
  [[nodiscard]] bool started() const { return process_ != nullptr; }
  [[nodiscard]] ChildProcess& process() { return *process_; }
  /// Begins the termination of a child that lives, or whose group still reads an incomplete input.
  /// interrupted   its user has asked for its end; false: its peer was lost
  void terminate(bool interrupted);
  /// The child and its termination have ended, or it was never started.
  [[nodiscard]] bool is_gone() const {
    return !process_ || (process_->end() && (!termination_ || termination_->is_over()));
  }

 private:
  boost::asio::io_context& io_;
  const std::function<void()> on_gone_;
  std::unique_ptr<ChildProcess> process_;
  std::optional<ChildTermination> termination_;
};

}  // namespace udtcat::bridge
