// SPDX-License-Identifier: Apache-2.0
/// Signals, and a way out that nothing can block.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "tool/cli/exit_status.hpp"

namespace udtcat::tool {

/// The peer is told of a signal within 400 ms or not at all; the rest is for our own last lines.
inline constexpr std::chrono::milliseconds kSignalGrace{700};  // guess: the user is promised one second

/// Call first in main: blocks the signals of a SignalWatch, which then takes those that came before it was made.
void block_signals();

/// While this lives a signal ends the process: for work before the SignalWatch that may take long and needs no cleanup.
/// Threads: confined to the main thread, before any other was started.
class UnblockedSignals {
 public:
  UnblockedSignals();
  UnblockedSignals(const UnblockedSignals&) = delete;
  UnblockedSignals& operator=(const UnblockedSignals&) = delete;
  ~UnblockedSignals() { block_signals(); }
};

/// Takes SIGINT, SIGTERM, SIGHUP and SIGUSR1 on a thread of its own, which ends the process even while the io_context
/// or a destructor hangs. That thread lives as long as the process.
///
///   first SIGINT, SIGTERM, SIGHUP ─► handler, and the process ends after the grace in any case
///   the next one                  ─► the process ends now; the same one within 200 ms is the first one's echo
///   SIGUSR1                       ─► handler; after handle_hangup() SIGHUP likewise
///
/// SIGINT, SIGTERM and SIGHUP that were ignored when we were started (&, nohup) end nothing; after handle_hangup()
/// SIGHUP is handed on as any.
/// Threads: confined to the thread that made it, before any other was started; the handler is called on the watch's
/// own.
class SignalWatch {
 public:
  using Handler = std::function<void(int signal)>;

  /// grace   how long the handler's work may take after the first signal
  explicit SignalWatch(Handler handler, std::chrono::milliseconds grace = kSignalGrace);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// No handler is called any more; signals still end the process.
  ~SignalWatch();

  /// From now on SIGHUP goes to the handler and ends nothing.
  void handle_hangup();

  /// Ends the process with `status` if it has not ended by itself when `grace` is over.
  void end_process_after(std::chrono::milliseconds grace, ExitStatus status);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace udtcat::tool
