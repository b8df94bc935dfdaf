// SPDX-License-Identifier: Apache-2.0
#include "support/process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <tuple>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/printed_json.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::test {

namespace {

constexpr int kCannotStart = 127;  // spec: POSIX sh, "command not found"

std::string name_of(const std::string& assignment) { return assignment.substr(0, assignment.find('=') + 1); }

/// The test's environment without what `command` replaces and without any setting of the program under test.
std::vector<std::string> environment_for(const Command& command) {
  std::vector<std::string> result = command.environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string own = *entry;
    const bool replaced = std::any_of(command.environment.begin(), command.environment.end(),
                                      [&](const std::string& given) { return name_of(given) == name_of(own); });
    if (!replaced && own.rfind("UDTCAT_", 0) != 0) result.push_back(own);
  }
  return result;
}

/// Debian keeps servers and ip(8) where an ordinary user's PATH does not look.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream places(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin:/usr/bin:/bin");
  for (std::string place; std::getline(places, place, ':');) {
    const std::string candidate = place + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return name;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

struct Prepared {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> environment;
  int in, out, errors, network_namespace;
  const char* working_directory;
};

/// In the child, between fork and exec: system calls only, since other threads of the test may have held any lock.
[[noreturn]] void exec_program(const Prepared& prepared) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  ::signal(SIGPIPE, SIG_DFL);
  const bool ready = (prepared.network_namespace < 0 || ::setns(prepared.network_namespace, CLONE_NEWNET) == 0) &&
                     (*prepared.working_directory == '\0' || ::chdir(prepared.working_directory) == 0) &&
                     ::dup2(prepared.in, STDIN_FILENO) >= 0 && ::dup2(prepared.out, STDOUT_FILENO) >= 0 &&
                     ::dup2(prepared.errors, STDERR_FILENO) >= 0;
  if (ready) ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.environment.data());
  constexpr std::string_view message = "the test could not start the program\n";
  std::ignore = ::write(prepared.errors, message.data(), message.size());
  ::_exit(kCannotStart);
}

/// Also by another program, as ip(8) or setpriv(1).
bool runs_udtcat(const Command& command) {
  return std::find(command.argv.begin(), command.argv.end(), UDTCAT_BINARY) != command.argv.end();
}

std::string content_of(const Descriptor& file) {
  struct stat about {};
  if (::fstat(file.fd(), &about) != 0) die("fstat");
  std::string content(static_cast<std::size_t>(about.st_size), '\0');
  const ssize_t got = ::pread(file.fd(), content.data(), content.size(), 0);
  content.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return content;
}

}  // namespace

Process::Process(Command command) : is_udtcat_(runs_udtcat(command)), errors_(open_unnamed_file()) {
  auto environment = environment_for(command);
  Descriptor network_namespace;
  if (!command.network_namespace.empty()) network_namespace = open_for_reading(command.network_namespace);
  const Prepared prepared{.program = find_program(command.argv.at(0)),
                          .argv = pointers(command.argv),
                          .environment = pointers(environment),
                          .in = command.in.fd(),
                          .out = command.out.fd(),
                          .errors = errors_.fd(),
                          .network_namespace = network_namespace.fd(),
                          .working_directory = command.working_directory.c_str()};
  pid_ = ::fork();
  if (pid_ < 0) die("fork");
  if (pid_ == 0) exec_program(prepared);
  pid_fd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pid_fd_.valid()) die("pidfd_open");
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      is_udtcat_(other.is_udtcat_),
      pid_fd_(std::move(other.pid_fd_)),
      errors_(std::move(other.errors_)),
      ending_(other.ending_) {}

Process::~Process() {
  if (pid_ < 0) return;
  if (!ending_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (is_udtcat_) keep_printed_json(errors());
}

void Process::send_signal(int signal) const {
  if (!ending_) ::kill(pid_, signal);
}

std::optional<Ending> Process::wait(std::chrono::milliseconds limit) {
  if (ending_) return ending_;
  pollfd ended{.fd = pid_fd_.fd(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) die("waitpid");
  constexpr int kShellSignalBase = 128;  // spec: POSIX sh, "exit status for commands"
  ending_ = WIFEXITED(status) ? Ending{.status = WEXITSTATUS(status), .core_dumped = false}
                              : Ending{.status = kShellSignalBase + WTERMSIG(status), .core_dumped = WCOREDUMP(status)};
  return ending_;
}

std::string Process::errors() const { return content_of(errors_); }

std::vector<std::string> Process::error_lines() const {
  std::vector<std::string> lines;
  std::istringstream text(errors());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string Process::proc_file(const std::string& name) const {
  return read_file("/proc/" + std::to_string(pid_) + "/" + name);
}

std::uint64_t Process::status_field(const std::string& field) const {
  constexpr std::uint64_t kUnitBytes = 1024;  // spec: proc(5), /proc/PID/status, in kB
  const std::string status = proc_file("status");
  const auto at = status.find(field);
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + field.size(), nullptr, 10) * kUnitBytes;
}

Ran run(Command command, std::chrono::milliseconds limit) {
  const Descriptor output = open_unnamed_file();
  command.out = Descriptor(::fcntl(output.fd(), F_DUPFD_CLOEXEC, 0));
  const bool is_udtcat = runs_udtcat(command);
  Process process(std::move(command));
  const auto ending = process.wait(limit);
  if (!ending) return Ran{.status = -1, .output = content_of(output), .errors = process.errors() + "\n(still running)"};
  Ran ran{.status = ending->status, .output = content_of(output), .errors = process.errors()};
  if (is_udtcat) keep_printed_json(ran.output);
  return ran;
}

}  // namespace udtcat::test
