// SPDX-License-Identifier: Apache-2.0
#include "wan/network_namespace.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <tuple>

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) return fail(Errc::out_of_resources, "write \"" + text + "\" to " + path, core::errno_text(errno));
  return {};
}

Status bring_loopback_up() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::string_view("lo").copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket.valid() || ::ioctl(socket.fd(), SIOCSIFFLAGS, &request) != 0)
    return fail(Errc::out_of_resources, "bring the loopback of a network namespace up", core::errno_text(errno));
  return {};
}

std::uint64_t inode_of(pid_t pid) {
  struct stat about {};
  return ::stat(("/proc/" + std::to_string(pid) + "/ns/net").c_str(), &about) == 0 ? about.st_ino : 0;
}

/// Of the namespace that the caller is in; 0 where the kernel is older than 5.14.
std::uint64_t own_cookie() {
  constexpr int kNetnsCookie = 71;  // spec: SO_NETNS_COOKIE of linux/socket.h
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (!socket.valid() || ::getsockopt(socket.fd(), SOL_SOCKET, kNetnsCookie, &cookie, &length) != 0) return 0;
  return cookie;
}

/// Asked by a child, since who has gone into another user namespace cannot come back.
std::uint64_t cookie_of(pid_t pid) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 0;
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string folder = "/proc/" + std::to_string(pid) + "/ns/";
    const Descriptor user(::open((folder + "user").c_str(), O_RDONLY | O_CLOEXEC));
    const Descriptor net(::open((folder + "net").c_str(), O_RDONLY | O_CLOEXEC));
    if (::geteuid() != 0) std::ignore = ::setns(user.fd(), CLONE_NEWUSER);
    const std::uint64_t cookie = ::setns(net.fd(), CLONE_NEWNET) == 0 ? own_cookie() : 0;
    std::ignore = ::write(writing.fd(), &cookie, sizeof cookie);
    ::_exit(0);
  }
  writing = Descriptor();
  std::uint64_t cookie = 0;
  if (child < 0 || ::read(reading.fd(), &cookie, sizeof cookie) != sizeof cookie) cookie = 0;
  if (child > 0) ::waitpid(child, nullptr, 0);
  return cookie;
}

}  // namespace

Result<Descriptor> become_root() {
  if (::geteuid() == 0) return Descriptor();
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0)
    return fail(Errc::out_of_resources, "make a user namespace", core::errno_text(errno) + "; run as root instead");
  Status mapped = write_file("/proc/self/setgroups", "deny");
  if (mapped) mapped = write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
  if (mapped) mapped = write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  if (!mapped) return tl::unexpected(mapped.error());
  return Descriptor(::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
}

Result<NetworkNamespace> make_network_namespace() {
  if (::unshare(CLONE_NEWNET) != 0)
    return fail(Errc::out_of_resources, "make a network namespace", core::errno_text(errno) + "; run as root");
  NetworkNamespace made;
  made.descriptor = Descriptor(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!made.descriptor.valid() || ::fstat(made.descriptor.fd(), &about) != 0)
    return fail(Errc::out_of_resources, "open /proc/self/ns/net", core::errno_text(errno));
  made.id = {about.st_ino, own_cookie()};
  if (auto up = bring_loopback_up(); !up) return tl::unexpected(up.error());
  return made;
}

Status enter(const NetworkNamespace& netns) {
  if (::setns(netns.descriptor.fd(), CLONE_NEWNET) != 0)
    return fail(Errc::out_of_resources, "enter a network namespace", core::errno_text(errno));
  return {};
}

Status set_sysctl(const std::string& name, const std::string& value) {
  std::string path = name;
  std::ranges::replace(path, '.', '/');
  return write_file("/proc/sys/" + path, value);
}

std::vector<pid_t> processes_in(const NamespaceId& id) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string number = entry.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), pid).ec != std::errc{} || pid == ::getpid())
      continue;
    if (inode_of(pid) == id.inode && cookie_of(pid) == id.cookie) found.push_back(pid);
  }
  return found;
}

void kill_processes_in(const NamespaceId& id) {
  constexpr int kGoneWithinMs = 2000;  // guess: a process that was killed goes at once, or hangs in the kernel for good
  constexpr int kRounds = 20;          // guess: what forks faster than that is not ours to outrun
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Descriptor> ending;
    for (const pid_t pid : processes_in(id)) {
      Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      // Looked at again: the number may be another process's by now, but what the descriptor names stays.
      if (process.valid() && inode_of(pid) == id.inode &&
          ::syscall(SYS_pidfd_send_signal, process.fd(), SIGKILL, nullptr, 0) == 0)
        ending.push_back(std::move(process));
    }
    if (ending.empty()) return;
    for (const Descriptor& process : ending) {
      pollfd gone{.fd = process.fd(), .events = POLLIN, .revents = 0};
      ::poll(&gone, 1, kGoneWithinMs);
    }
  }
}

}  // namespace udtcat::wan
