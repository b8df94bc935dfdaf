// SPDX-License-Identifier: Apache-2.0
#include "rsh/user_shell.hpp"

#include <filesystem>
#include <system_error>

#include <pwd.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "tool/shell_words.hpp"

namespace udtcat::rsh {

namespace {

constexpr const char* kDefaultShell = "/bin/sh";
// The places of distributions. sshd_config, which names it, is not always readable to users.
constexpr const char* kSftpServer =
    "exec sh -c 'for each in /usr/lib/openssh /usr/libexec/openssh /usr/libexec /usr/lib/ssh /usr/local/libexec; do "
    "test -x $each/sftp-server && exec $each/sftp-server; done; "
    "echo \"udtcat ($(uname -n)): there is no sftp-server here\" >&2; exit 127'";

/// By its place, as the shell that is to run it has another /proc/self.
Result<std::string> trees_server() {
  constexpr const char* kOwnProgram = "/proc/self/exe";
  std::error_code error;
  const auto program = std::filesystem::read_symlink(kOwnProgram, error);
  if (error) return fail(Errc::local_read_failed, std::string("read ") + kOwnProgram, error.message());
  return "exec " + tool::quoted(program.string()) + " trees-server";
}

std::string user_shell() {
  const passwd* account = ::getpwuid(::getuid());  // one thread asks, before there is a child
  const bool named = account != nullptr && account->pw_shell != nullptr && *account->pw_shell != '\0';
  return named ? account->pw_shell : kDefaultShell;
}

bridge::ChildRequest in_shell(const std::string& text) {
  const std::string shell = user_shell();
  return {.program = shell, .words = {shell.substr(shell.rfind('/') + 1), "-c", text}, .core_limit_bytes = {}};
}

}  // namespace

bool needs_udtcat(const ControlMessage& request) {
  const auto* subsystem = std::get_if<RunSubsystem>(&request);
  return subsystem != nullptr && subsystem->name == "trees";
}

Result<std::string> command_line_of(const ControlMessage& request) {
  if (const auto* command = std::get_if<RunCommand>(&request)) return command->text;
  const auto* subsystem = std::get_if<RunSubsystem>(&request);
  if (subsystem == nullptr) return fail(Errc::bad_argument, "run a command", "none was asked for");
  if (subsystem->name == "sftp") return std::string(kSftpServer);
  const std::string what = "subsystem \"" + subsystem->name + "\"";
  if (needs_udtcat(request)) return fail(Errc::cannot_reach, what, "no udtcat there; --push brings it");
  return fail(Errc::bad_argument, what, "unknown; sftp and trees are those that are known");
}

Result<bridge::ChildRequest> launch_for_user(const ControlMessage& request, std::uint64_t core_limit_bytes) {
  UDTCAT_TRY(const std::string text, needs_udtcat(request) ? trees_server() : command_line_of(request));
  bridge::ChildRequest launch = in_shell(text);
  launch.core_limit_bytes = core_limit_bytes;
  return launch;
}

}  // namespace udtcat::rsh
