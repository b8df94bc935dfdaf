/// How a child that is not needed any more is brought to its end.
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

/// A signal, and how long after what came before it is sent.
struct EndingStep {
  std::chrono::milliseconds wait;
  int signal;
};
using EndingSteps = std::array<EndingStep, 3>;

/// Its user has asked for its end.  spec: docs/spec/rsh.md §5
extern const EndingSteps kInterruptedSteps;
/// Its peer was lost, so its user can wish nothing.  spec: docs/spec/rsh.md §5
extern const EndingSteps kLostSteps;

/// Signals the group that a child leads, more urgently each time, until nobody of it is left. Its stdin is not touched:
/// see ChildKeeper.
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

/// A child and, where whom it serves goes first, its ending.
/// Threads: confined to the io_context thread.
class KeptChild {
 public:
  /// on_gone   called when the child has ended, and again when what end_it() does is done
  KeptChild(boost::asio::io_context& io, std::function<void()> on_gone) : io_(io), on_gone_(std::move(on_gone)) {}
  KeptChild(const KeptChild&) = delete;
  KeptChild& operator=(const KeptChild&) = delete;
  /// A child that lives is killed, and its group with it.
  ~KeptChild() = default;

  /// Once. `on_end` comes before on_gone.  errors: as ChildProcess::start()
  [[nodiscard]] Status start(const ChildRequest& request, std::function<void(const ChildEnd&)> on_end);
  [[nodiscard]] bool started() const { return process_ != nullptr; }
  /// Once started.
  [[nodiscard]] ChildProcess& process() { return *process_; }
  /// Ends by signals, as asked for by its user or not, a child that lives, or who still reads an input that was cut.
  void end_it(bool interrupted);
  /// Nothing is left of it, or it never was.
  [[nodiscard]] bool is_gone() const { return !process_ || (process_->end() && (!ending_ || ending_->is_over())); }

 private:
  boost::asio::io_context& io_;
  const std::function<void()> on_gone_;
  std::unique_ptr<ChildProcess> process_;
  std::optional<ChildEnding> ending_;
};

}  // namespace udtcat::bridge
