// SPDX-License-Identifier: Apache-2.0
#include "rsh/user_shell.hpp"

#include <array>
#include <string>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

namespace udtcat::rsh {

namespace {

constexpr const char* kDefaultShell = "/bin/sh";
// The places of distributions. sshd_config, which names it, is not always readable to users.
constexpr std::array<const char*, 5> kSftpServers{"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server",
                                                  "/usr/libexec/sftp-server", "/usr/lib/ssh/sftp-server",
                                                  "/usr/local/libexec/sftp-server"};

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

Result<bridge::ChildRequest> launch_for_user(const ControlMessage& request, std::uint64_t core_limit_bytes) {
  bridge::ChildRequest launch;
  if (const auto* command = std::get_if<RunCommand>(&request)) {
    launch = in_shell(command->text);
  } else if (const auto* subsystem = std::get_if<RunSubsystem>(&request)) {
    const char* found = nullptr;
    for (const char* path : kSftpServers)
      if (found == nullptr && subsystem->name == "sftp" && ::access(path, X_OK) == 0) found = path;
    if (found == nullptr)
      return fail(Errc::bad_argument, "subsystem \"" + subsystem->name + "\"",
                  "not found there; sftp is the one that is known");
    launch = in_shell(found);
  } else {
    return fail(Errc::bad_argument, "run a command", "none was asked for");
  }
  launch.core_limit_bytes = core_limit_bytes;
  return launch;
}

}  // namespace udtcat::rsh
