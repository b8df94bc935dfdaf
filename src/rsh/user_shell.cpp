// SPDX-License-Identifier: Apache-2.0
#include "rsh/user_shell.hpp"

#include <pwd.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "tool/cli/process_setup.hpp"

namespace udtcat::rsh {

namespace {

constexpr const char* kDefaultShell = "/bin/sh";
// The paths of distributions: sshd_config, which names it, is not always readable to users.
constexpr const char* kSftpServer =
    "exec sh -c 'for each in /usr/lib/openssh /usr/libexec/openssh /usr/libexec /usr/lib/ssh /usr/local/libexec; do "
    "test -x $each/sftp-server && exec $each/sftp-server; done; "
    "echo \"udtcat ($(uname -n)): there is no sftp-server here\" >&2; exit 127'";

/// The account's; where it is not known, as one of LDAP to the static program, the one that sshd has named.
std::string user_shell() {
  const passwd* account = ::getpwuid(::getuid());  // one thread asks, before there is a child
  if (account == nullptr) return tool::environment("SHELL").value_or(kDefaultShell);
  const bool named = account->pw_shell != nullptr && *account->pw_shell != '\0';
  return named ? account->pw_shell : kDefaultShell;
}

bridge::ChildRequest in_shell(const std::string& text) {
  const std::string shell = user_shell();
  return {.program = shell, .words = {shell.substr(shell.rfind('/') + 1), "-c", text}, .core_limit_bytes = {}};
}

}  // namespace

Result<std::string> command_line_of(const ssh::ControlMessage& request) {
  if (const auto* command = std::get_if<ssh::RunCommand>(&request)) return command->text;
  const auto* subsystem = std::get_if<ssh::RunSubsystem>(&request);
  if (subsystem == nullptr) return fail(Errc::bad_argument, "run a command", "none was asked for");
  if (subsystem->name == "sftp") return std::string(kSftpServer);
  return fail(Errc::bad_argument, "subsystem \"" + subsystem->name + "\"", "unknown; sftp is the one that is known");
}

Result<bridge::ChildRequest> launch_for_user(const ssh::ControlMessage& request, std::uint64_t core_limit_bytes) {
  UDTCAT_TRY(const std::string text, command_line_of(request));
  bridge::ChildRequest program = in_shell(text);
  program.core_limit_bytes = core_limit_bytes;
  return program;
}

}  // namespace udtcat::rsh
