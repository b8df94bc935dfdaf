// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/terminal_prompt.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <tuple>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

constexpr std::size_t kMaxLineBytes = 4096;  // spec: the kernel's own limit for a line of a terminal
constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile std::sig_atomic_t caught_signal = 0;
extern "C" void remember_signal(int signal) { caught_signal = signal; }

/// While it lives, a signal only interrupts wait_readable(): never missed between a look and a wait.
class CaughtSignals {
 public:
  CaughtSignals() {
    caught_signal = 0;
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : kEndingSignals) sigaddset(&ending, signal);
    std::ignore = ::pthread_sigmask(SIG_BLOCK, &ending, &mask_before_);
    struct sigaction action {};
    action.sa_handler = remember_signal;
    for (std::size_t i = 0; i < kEndingSignals.size(); ++i)
      std::ignore = ::sigaction(kEndingSignals[i], &action, &before_[i]);
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;
  ~CaughtSignals() {
    for (std::size_t i = 0; i < kEndingSignals.size(); ++i)
      std::ignore = ::sigaction(kEndingSignals[i], &before_[i], nullptr);
    std::ignore = ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    if (caught_signal != 0) std::ignore = ::raise(caught_signal);
  }

  /// The errno of the wait; EINTR if a signal came instead.
  [[nodiscard]] int wait_readable(int descriptor) const {
    pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
    return ::ppoll(&watched, 1, nullptr, &mask_before_) < 0 ? errno : 0;
  }

 private:
  sigset_t mask_before_{};
  std::array<struct sigaction, kEndingSignals.size()> before_{};
};

/// While it lives, what is typed is not shown, and a shell cannot be returned to with the terminal in that state.
class EchoOff {
 public:
  explicit EchoOff(int terminal) : terminal_(terminal), changed_(::tcgetattr(terminal, &before_) == 0) {
    if (!changed_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    quiet.c_lflag |= ECHONL;
    quiet.c_cc[VSUSP] = _POSIX_VDISABLE;
    changed_ = ::tcsetattr(terminal_, TCSAFLUSH, &quiet) == 0;
  }
  EchoOff(const EchoOff&) = delete;
  EchoOff& operator=(const EchoOff&) = delete;
  ~EchoOff() {
    if (changed_) std::ignore = ::tcsetattr(terminal_, TCSAFLUSH, &before_);
  }
  [[nodiscard]] bool holds() const { return changed_; }

 private:
  const int terminal_;
  termios before_{};
  bool changed_;
};

tl::unexpected<Error> no_key(std::string why) { return fail(Errc::bad_argument, "ask for the key", std::move(why)); }

Result<core::SecretText> read_line(int terminal, const CaughtSignals& signals) {
  core::SecretText line;
  line.reserve(kMaxLineBytes);
  for (char byte = 0; line.size_bytes() < kMaxLineBytes;) {
    const int waited = signals.wait_readable(terminal);
    if (waited == EINTR && caught_signal == 0) continue;
    if (waited != 0) return no_key(core::errno_text(waited));
    const ssize_t taken = ::read(terminal, &byte, 1);
    if (taken < 0) return no_key(core::errno_text(errno));
    if (taken == 0 || byte == '\n') break;
    line.append(byte);
  }
  return line;
}

}  // namespace

Result<core::SecretText> ask_without_echo(int terminal, const std::string& question) {
  // The signals' own destructor runs last: what it raises finds the terminal restored.
  const CaughtSignals signals;
  const EchoOff unechoed(terminal);
  if (!unechoed.holds()) return no_key("the terminal cannot hide what is typed");
  if (::write(terminal, question.data(), question.size()) < 0) return no_key(core::errno_text(errno));
  return read_line(terminal, signals);
}

Result<core::SecretText> ask_on_terminal(const std::string& question) {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0)
    return fail(
        Errc::bad_argument, "no key",
        "give --key-file FILE, or set UDTCAT_KEY, or put it into ~/.config/udtcat/key, or run it where a terminal "
        "can be asked");
  auto answer = ask_without_echo(terminal, question);
  std::ignore = ::close(terminal);  // a terminal has nothing left to fail
  return answer;
}

Status show_on_terminal(const std::string& caption, const core::SecretText& secret) {
  const int terminal = ::open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0)
    return fail(Errc::bad_argument, "no key",
                "a new one is shown on a terminal only, and there is none: make it by udtcat keygen > FILE, give "
                "--key-file FILE at both ends, or set UDTCAT_KEY");
  bool shown = true;
  for (const std::string_view piece : {std::string_view(caption), secret.view(), std::string_view("\n")})
    shown = shown && ::write(terminal, piece.data(), piece.size()) == static_cast<ssize_t>(piece.size());
  const int why = errno;
  std::ignore = ::close(terminal);  // a terminal has nothing left to fail
  if (!shown) return fail(Errc::bad_argument, "show the new key on the terminal", core::errno_text(why));
  return {};
}

}  // namespace udtcat::tool
