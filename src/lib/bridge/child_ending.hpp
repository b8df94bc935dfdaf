/// How a child that nobody needs any more is brought to its end.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// A signal, and how long after what came before it is sent.
struct EndingStep {
  std::chrono::milliseconds wait;
  int signal;
};
using EndingSteps = std::array<EndingStep, 3>;

/// Its user has asked for its end.  spec: docs/spec/rsh.md §5
extern const EndingSteps kInterruptedSteps;
/// Nobody knows what its user wants.  spec: docs/spec/rsh.md §5
extern const EndingSteps kLostSteps;

/// Signals the group that a child leads, more urgently each time, until nobody of it is left. Its stdin is not touched: see
/// ChildKeeper.
/// Threads: confined to the io_context thread, where the handler is called, once, not from inside the constructor.
class ChildEnding {
 public:
  /// The child must outlive this.
  ChildEnding(boost::asio::io_context& io, ChildProcess& child, const EndingSteps& steps,
              std::function<void()> on_gone);
  ChildEnding(const ChildEnding&) = delete;
  ChildEnding& operator=(const ChildEnding&) = delete;
  /// Kills those of the group who are left.
  ~ChildEnding();

  [[nodiscard]] bool is_over() const { return over_; }

 private:
  using Clock = std::chrono::steady_clock;

  void look_again();
  void look();
  [[nodiscard]] bool is_gone() const;

  ChildProcess& child_;
  const EndingSteps& steps_;
  std::function<void()> on_gone_;
  std::size_t sent_ = 0;  // of the steps
  Clock::time_point next_;
  bool warned_ = false;
  bool over_ = false;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
