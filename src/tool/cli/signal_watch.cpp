// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/signal_watch.hpp"

#include <atomic>
#include <csignal>
#include <system_error>
#include <thread>
#include <tuple>

#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/core/log.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::tool {

namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// The signals that the watch waits for. SIGALRM is its own clock. A shell ignores SIGINT for programs behind &, and
/// nohup SIGHUP: what was ignored when we were started ends nothing.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGHUP, SIGUSR1, SIGALRM}) sigaddset(&set, signal);
  for (const int signal : {SIGINT, SIGTERM})
    if (!is_ignored(signal)) sigaddset(&set, signal);
  return set;
}

constexpr auto kOneRequest = std::chrono::milliseconds(200);  // guess: a person presses ^C more slowly

void set_alarm(std::chrono::milliseconds delay) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(delay);
  itimerval timer{};
  timer.it_value.tv_sec = whole.count();
  timer.it_value.tv_usec = std::chrono::microseconds(delay - whole).count();
  std::ignore = ::setitimer(ITIMER_REAL, &timer, nullptr);  // fails for no valid delay
}

}  // namespace

void block_signals() {
  const sigset_t signals = watched_signals();
  std::ignore = ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // fails for no valid set
}

UnblockedSignals::UnblockedSignals() {
  const sigset_t signals = watched_signals();
  std::ignore = ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // fails for no valid set
}

struct SignalWatch::State {
  State(Handler on_signal, std::chrono::milliseconds timeout) : grace(timeout), handler(std::move(on_signal)) {}

  /// The watch's thread.
  void run();

  const sigset_t signals = watched_signals();
  const bool hangup_is_ignored = is_ignored(SIGHUP);
  const std::chrono::milliseconds grace;
  std::atomic<int> status{to_int(ExitStatus::interrupted)};  // what the alarm ends the process with
  std::atomic<bool> hangup_passes = false;
  core::Mutex mutex;
  Handler handler UDTCAT_GUARDED_BY(mutex);  // empty once nobody listens
};

void SignalWatch::State::run() {
  int first = 0;
  std::chrono::steady_clock::time_point first_at;
  for (;;) {
    int signal = 0;
    if (::sigwait(&signals, &signal) != 0) continue;
    if (signal == SIGALRM) ::_exit(status);
    const bool passes = signal == SIGUSR1 || (signal == SIGHUP && hangup_passes);
    if (signal == SIGHUP && hangup_is_ignored && !passes) continue;
    if (!passes) {
      const auto now = std::chrono::steady_clock::now();
      // timeout(1) and others signal the process, then its group: that is one request, and the orderly way is still
      // open.
      if (signal == first && now - first_at < kOneRequest) continue;
      const int signalled = to_int(exit_status_of_signal(signal));
      if (first != 0) ::_exit(signalled);
      first = signal;
      first_at = now;
      status = signalled;
      set_alarm(grace);
    }
    const core::MutexLock lock(mutex);
    if (handler) handler(signal);
  }
}

SignalWatch::SignalWatch(Handler handler, std::chrono::milliseconds grace)
    : state_(std::make_shared<State>(std::move(handler), grace)) {
  // Blocked in every thread that is made from now on, so that only sigwait() takes them.
  std::ignore = ::pthread_sigmask(SIG_BLOCK, &state_->signals, nullptr);  // fails for no valid set
  // POSIX lets a system discard a blocked signal that is ignored, so these get their default. Linux keeps it pending:
  // the others keep their disposition, which the programs that we start inherit.
  for (const int signal : {SIGUSR1, SIGALRM}) std::ignore = ::signal(signal, SIG_DFL);
  // Detached: it guards the end of the process, static destructors included, so nobody can wait for it.
  try {
    std::thread([state = state_] { state->run(); }).detach();
  } catch (const std::system_error& error) {
    core::log().warn("a signal will end this process at once, without a word: {}", error.what());
    std::ignore = ::pthread_sigmask(SIG_UNBLOCK, &state_->signals, nullptr);  // likewise
  }
}

SignalWatch::~SignalWatch() {
  const core::MutexLock lock(state_->mutex);
  state_->handler = nullptr;
}

void SignalWatch::handle_hangup() { state_->hangup_passes = true; }

void SignalWatch::end_process_after(std::chrono::milliseconds grace, ExitStatus status) {
  state_->status = to_int(status);
  set_alarm(grace);
}

}  // namespace udtcat::tool
