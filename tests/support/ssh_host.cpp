// SPDX-License-Identifier: Apache-2.0
#include "support/ssh_host.hpp"

#include <stdexcept>

#include <sys/stat.h>
#include <unistd.h>

#include "support/deadline.hpp"
#include "support/ports.hpp"

namespace udtcat::test {

namespace {

void make_key_pair(const std::filesystem::path& file) {
  const Ran made = run({.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file.string()}});
  if (made.status != 0) throw std::runtime_error("ssh-keygen: " + made.errors);
}

}  // namespace

SshHost::SshHost(const Namespaces::Host& far, const std::filesystem::path& program_directory) {
  const std::string port = std::to_string(free_port());
  const std::string home = home_.path().string();
  for (const char* name : {"host_key", "user_key"}) make_key_pair(home_.path() / name);
  home_.write("banner", "This is a banner.\n");
  const std::string far_home = far_home_.path().string();
  home_.write("sshd_config",
              "Port " + port + "\nHostKey " + home + "/host_key\nAuthorizedKeysFile " + home +
                  "/user_key.pub\nPidFile none\nStrictModes no\nUsePAM no\nPrintMotd no\nBanner " + home +
                  "/banner\nSetEnv PATH=" + program_directory.string() +
                  ":/usr/sbin:/usr/bin:/sbin:/bin HOME=" + far_home + "\n" +
                  // The account's shell begins in that home too, and reads no start-up file of the real one.
                  "ForceCommand cd " + far_home +
                  "; c=$SSH_ORIGINAL_COMMAND; unset SSH_ORIGINAL_COMMAND; exec bash ${c:+-c \"$c\"}\n" +
                  "Subsystem sftp /usr/lib/openssh/sftp-server\n");
  const std::string common = " Port " + port + "\n IdentityFile " + home +
                             "/user_key\n IdentitiesOnly yes\n UserKnownHostsFile /dev/null\n"
                             " StrictHostKeyChecking no\n LogLevel ERROR\n";
  home_.write("ssh_config", "Host far\n HostName " + far.ipv4 + "\n" + common + "Host far6\n HostName " + far.ipv6 +
                                "\n" + common + "Host inner\n HostName " + far.ipv6 + "\n ProxyCommand ssh -F " + home +
                                "/ssh_config -W [%h]:%p far\n" + common);
  std::filesystem::create_directories("/run/sshd");  // what sshd wants of root
  server_.emplace(
      Command{.argv = {"/usr/sbin/sshd", "-D", "-e", "-f", home + "/sshd_config"}, .network_namespace = far.file});
  const bool up =
      eventually(std::chrono::seconds(30), [&] { return server_->errors().find("listening on") != std::string::npos; });
  if (!up) throw std::runtime_error("sshd: " + server_->errors());
}

}  // namespace udtcat::test
