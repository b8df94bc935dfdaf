// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/stock_ftp_server.hpp"

#include <csignal>
#include <stdexcept>
#include <utility>

#include "support/deadline.hpp"

namespace udtcat::test::e2e {

namespace {

/// Where scripts/install-dependencies unpacks the servers whose packages exclude one another.
constexpr const char* kUnpacked = "/opt/udtcat-ftp-servers/";

}  // namespace

const char* name_of(Make make) {
  switch (make) {
    case Make::globus:
      return "globus";
    case Make::proftpd:
      return "proftpd";
    case Make::pure_ftpd:
      return "pure_ftpd";
    case Make::pyftpdlib:
      return "pyftpdlib";
    case Make::vsftpd:
      return "vsftpd";
  }
  return "";
}

StockFtpServer::StockFtpServer(Make make, Settings settings) : make_(make), settings_(std::move(settings)) {
  using std::filesystem::perms;
  const perms readable =
      perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec;
  std::filesystem::create_directories(top_ / "w");
  std::filesystem::create_directory(state_ / "empty");
  for (const auto& directory : {state_.path(), top_, state_ / "empty"})
    std::filesystem::permissions(directory, readable);
  std::filesystem::permissions(top_ / "w", perms::all);
  process_.emplace(command());
  const std::string connect = ": </dev/tcp/" + settings_.address + '/' + std::to_string(port_);
  const auto answers = [&] {
    return run({.argv = {"bash", "-c", connect}, .network_namespace = settings_.network_namespace}).status == 0;
  };
  if (!eventually(std::chrono::seconds(30), answers))
    throw std::runtime_error(std::string(name_of(make)) + ": " + errors());
}

StockFtpServer::~StockFtpServer() {
  if (process_) ::kill(-process_->pid(), SIGKILL);  // and those that it has started for clients
}

std::string StockFtpServer::top_url(const std::string& encoded) const {
  const std::string user = make_ == Make::pure_ftpd ? "grid@" : "";
  const std::string below = make_ == Make::globus ? top_.string() + '/' : "/";  // it shows the whole host
  return "ftp://" + user + settings_.address + ':' + std::to_string(port_) + below + encoded;
}

Command StockFtpServer::command() const {
  Command command{.argv = {}, .network_namespace = settings_.network_namespace};
  switch (make_) {
    case Make::globus:
      command.argv = globus();
      break;
    case Make::proftpd:
      command.argv = proftpd();
      break;
    case Make::pure_ftpd:
      command.argv = pure_ftpd();
      break;
    case Make::pyftpdlib:
      command.argv = pyftpdlib();
      break;
    case Make::vsftpd:
      command.argv = vsftpd();
      break;
  }
  return command;
}

/// It does not start where its address has no name, which a network of a test's own cannot ask for.
std::vector<std::string> StockFtpServer::globus() const {
  const auto hosts = state_.write("hosts", read_file("/etc/hosts") + "\n" + settings_.address + " server\n", 0644);
  return {"unshare",
          "--mount",
          "--propagation",
          "private",
          "sh",
          "-c",
          "mount --bind " + hosts.string() + " /etc/hosts && exec setpriv --reuid=65534 --regid=65534 --clear-groups " +
              "/usr/sbin/globus-gridftp-server -c /dev/null -threads 0 -aa -p " + std::to_string(port_) +
              " -control-interface " + settings_.address + " -data-interface " + settings_.address + " -hostname " +
              settings_.address + " -home-dir " + top_.string()};
}

std::vector<std::string> StockFtpServer::proftpd() const {
  std::string text =
      "ServerType standalone\nUseIPv6 off\nUseReverseDNS off\nDelayTable none\nWtmpLog off\n"
      "TransferLog none\nSystemLog none\nRequireValidShell off\nAllowStoreRestart on\nUser nobody\n"
      "Group nogroup\nPort " +
      std::to_string(port_) + "\nDefaultAddress " + settings_.address + "\nPidFile " + (state_ / "pid").string() +
      "\nScoreboardFile " + (state_ / "scores").string() + '\n';
  if (!settings_.address_in_pasv.empty()) text += "MasqueradeAddress " + settings_.address_in_pasv + '\n';
  text += "<Anonymous " + top_.string() +
          ">\nUser nobody\nGroup nogroup\nUserAlias anonymous nobody\n"
          "RequireValidShell off\nAllowOverwrite on\n";
  if (settings_.kilobytes_per_second > 0)
    text += "TransferRate RETR,STOR " + std::to_string(settings_.kilobytes_per_second) + '\n';
  return {std::string(kUnpacked) + "proftpd-core/usr/sbin/proftpd", "-n", "-q", "-c",
          state_.write("conf", text + "</Anonymous>\n")};
}

/// Its anonymous user may replace nothing: it has a user, "grid", of a system that only this process sees.
std::vector<std::string> StockFtpServer::pure_ftpd() const {
  const Ran hash = run({.argv = {"openssl", "passwd", "-6", "udtcat@"}});
  const auto users =
      state_.write("passwd", "root:x:0:0::/root:/bin/sh\ngrid:x:65534:65534::" + top_.string() + ":/bin/sh\n", 0644);
  const auto passwords =
      state_.write("shadow", "grid:" + hash.output.substr(0, hash.output.find('\n')) + ":19000::::::\n");
  std::string script = "mount --bind " + users.string() + " /etc/passwd && mount --bind " + passwords.string() +
                       " /etc/shadow && exec " + kUnpacked + "pure-ftpd/usr/sbin/pure-ftpd -4 -H -A -E -l unix -g " +
                       (state_ / "pid").string() + " -S " + settings_.address + ',' + std::to_string(port_);
  if (!settings_.address_in_pasv.empty()) script += " -P " + settings_.address_in_pasv;
  if (settings_.kilobytes_per_second > 0) script += " -T " + std::to_string(settings_.kilobytes_per_second);
  return {"unshare", "--mount", "--propagation", "private", "sh", "-c", script};
}

std::vector<std::string> StockFtpServer::pyftpdlib() const {
  constexpr const char* kScript = R"(
import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, ThrottledDTPHandler
from pyftpdlib.servers import FTPServer
host, port, top, masquerade, rate = sys.argv[1:]
FTPHandler.authorizer = DummyAuthorizer()
FTPHandler.authorizer.add_anonymous(top, perm='elradfmwMT')
FTPHandler.masquerade_address = masquerade or None
FTPHandler.use_sendfile = False
ThrottledDTPHandler.read_limit = ThrottledDTPHandler.write_limit = 1000 * int(rate)
if int(rate) > 0:  # without need it is not: a data connection that is gone at once ends the server
  FTPHandler.dtp_handler = ThrottledDTPHandler
FTPServer((host, int(port)), FTPHandler).serve_forever()
)";
  return {"setpriv",
          "--reuid=65534",
          "--regid=65534",
          "--clear-groups",
          "/usr/bin/python3",
          "-c",
          kScript,
          settings_.address,
          std::to_string(port_),
          top_,
          settings_.address_in_pasv,
          std::to_string(settings_.kilobytes_per_second)};
}

std::vector<std::string> StockFtpServer::vsftpd() const {
  std::string text = "listen=YES\nbackground=NO\nlisten_port=" + std::to_string(port_) +
                     "\nlisten_address=" + settings_.address +
                     "\nanonymous_enable=YES\nlocal_enable=NO\nftp_username=daemon\nanon_root=" + top_.string() +
                     "\nno_anon_password=YES\nwrite_enable=YES\nanon_upload_enable=YES\n"
                     "anon_mkdir_write_enable=YES\nanon_other_write_enable=YES\nanon_world_readable_only=NO\n"
                     "anon_umask=022\nsecure_chroot_dir=" +
                     (state_ / "empty").string() + "\nseccomp_sandbox=NO\nxferlog_enable=NO\n";
  if (!settings_.address_in_pasv.empty()) text += "pasv_address=" + settings_.address_in_pasv + '\n';
  if (settings_.kilobytes_per_second > 0)
    text += "anon_max_rate=" + std::to_string(1000 * settings_.kilobytes_per_second) + '\n';
  return {std::string(kUnpacked) + "vsftpd/usr/sbin/vsftpd", state_.write("conf", text)};
}

}  // namespace udtcat::test::e2e
