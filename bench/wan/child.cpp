// SPDX-License-Identifier: Apache-2.0
#include "wan/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

constexpr int kCannotStart = 127;  // spec: POSIX sh, "command not found"
constexpr int kSignalBase = 128;   // spec: POSIX sh, "exit status for commands"

/// The signals that the lab takes by descriptor are blocked in it; a program it starts has a right to them.
void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run(const NetworkNamespace& netns, const std::vector<std::string>& argv,
                      const std::vector<std::string>& environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  unblock_signals();
  ::signal(SIGPIPE, SIG_DFL);
  for (const std::string& assignment : environment) {
    const auto equals = assignment.find('=');
    ::setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
  }
  const Status entered = enter(netns);
  const std::string message = "wanlab: " + (entered ? exec_program(argv) : entered.error()).message() + "\n";
  std::ignore = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(kCannotStart);
}

}  // namespace

Result<Child> Child::start(const NetworkNamespace& netns, const std::vector<std::string>& argv,
                           const std::vector<std::string>& environment) {
  const pid_t pid = ::fork();
  if (pid < 0) return fail(Errc::out_of_resources, "start " + argv.front(), core::errno_text(errno));
  if (pid == 0) run(netns, argv, environment);
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return fail(Errc::out_of_resources, "watch " + argv.front(), core::errno_text(errno));
  return Child(pid, std::move(process));
}

std::optional<int> Child::status() {
  if (status_) return status_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
  return status_;
}

Error exec_program(const std::vector<std::string>& argv) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  // SAFETY: execvp() does not write to its arguments; its type is older than const.
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  return {Errc::bad_argument, "start " + argv.front(), core::errno_text(errno)};
}

}  // namespace udtcat::wan
