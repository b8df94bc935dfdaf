// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_watchdog.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <tuple>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/core/user_text.hpp"

namespace udtcat::bridge {

namespace {

constexpr int kLine = STDERR_FILENO + 1;

/// Reads the number of the group, then an empty line when the input is complete, then the end of the line, which comes
/// when we die. Its stdout is the writing end of the command's stdin.
constexpr const char* kScript =
    "read -r group <&3 || exit\n"
    "while read -r _ <&3; do exec >&-; done\n"
    "kill -s KILL -- \"-$group\"";

/// spec: posix_spawn(3); what it gives is an errno.
class SpawnSettings {
 public:
  SpawnSettings(int input, int line) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawnattr_init(&attributes_);
    error_ = ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    note(::posix_spawn_file_actions_adddup2(&files_, input, STDOUT_FILENO));
    note(::posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0));
    note(::posix_spawn_file_actions_adddup2(&files_, line, kLine));
    note(::posix_spawn_file_actions_addclosefrom_np(&files_, kLine + 1));
    // A signal to a whole unit or container must not end the watchdog before the command.
    sigset_t all;
    sigfillset(&all);
    note(::posix_spawnattr_setsigmask(&attributes_, &all));
    note(::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  [[nodiscard]] int spawn(pid_t& pid, const char* program, char* const* argv, char* const* environment) const {
    return error_ != 0 ? error_ : ::posix_spawn(&pid, program, &files_, &attributes_, argv, environment);
  }

 private:
  void note(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
  int error_ = 0;
};

/// returns  the errno of a failure, as where the watchdog has ended; else 0
int send_to_watchdog(const Descriptor& line, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(line.number(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return errno;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<ChildWatchdog>> ChildWatchdog::start(const Descriptor& input) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(Errc::out_of_resources, "make a socket pair", core::errno_text(last_error().value()));
  Descriptor ours(ends[0]);
  const Descriptor its(ends[1]);
  Descriptor kept(::fcntl(input.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!kept.is_open())
    return fail(Errc::out_of_resources, "duplicate the input of a command", core::errno_text(last_error().value()));
  const std::array<const char*, 5> words{"sh", "-c", kScript, "udtcat-watchdog", nullptr};
  const std::array<char*, 1> no_environment{};
  pid_t pid = -1;
  const int error = SpawnSettings(input.number(), its.number())
                        .spawn(pid, "/bin/sh", const_cast<char* const*>(words.data()),  // exec() promises not to write
                               no_environment.data());
  if (error != 0) return fail(Errc::local_connect_failed, "run /bin/sh beside a command", core::errno_text(error));
  return std::unique_ptr<ChildWatchdog>(new ChildWatchdog(std::move(kept), std::move(ours), pid));
}

ChildWatchdog::~ChildWatchdog() {
  std::ignore = ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

int ChildWatchdog::watch_my_group() const {
  std::array<char, 24> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size() - 1, ::getpid());
  *written.ptr = '\n';
  return send_to_watchdog(line_,
                          std::string_view(text.data(), static_cast<std::size_t>(written.ptr - text.data()) + 1));
}

void ChildWatchdog::end_input() {
  std::ignore = input_.close();
  if (send_to_watchdog(line_, "\n") != 0) std::ignore = ::kill(pid_, SIGKILL);  // ours until it is waited for
}

bool ChildWatchdog::incomplete_input_has_reader() const {
  pollfd input{input_.number(), 0, 0};
  return input_.is_open() && ::poll(&input, 1, 0) != 1;  // POLLERR: no reader; a poll that fails proves nothing
}

}  // namespace udtcat::bridge
