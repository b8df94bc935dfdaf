#include "wan/network_namespace.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace udtcat::wan {
namespace {

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) return fail(Errc::out_of_resources, "write \"" + text + "\" to " + path, errno_text(errno));
  return {};
}

Status bring_loopback_up() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::string_view("lo").copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket.valid() || ::ioctl(socket.fd(), SIOCSIFFLAGS, &request) != 0)
    return fail(Errc::out_of_resources, "bring the loopback of a network namespace up", errno_text(errno));
  return {};
}

}  // namespace

Result<Descriptor> become_root() {
  if (::geteuid() == 0) return Descriptor();
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0)
    return fail(Errc::out_of_resources, "make a user namespace", errno_text(errno) + "; run as root instead");
  Status mapped = write_file("/proc/self/setgroups", "deny");
  if (mapped) mapped = write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
  if (mapped) mapped = write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  if (!mapped) return tl::unexpected(mapped.error());
  return Descriptor(::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
}

Result<NetworkNamespace> make_network_namespace() {
  if (::unshare(CLONE_NEWNET) != 0)
    return fail(Errc::out_of_resources, "make a network namespace", errno_text(errno) + "; run as root");
  NetworkNamespace made;
  made.descriptor = Descriptor(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!made.descriptor.valid() || ::fstat(made.descriptor.fd(), &about) != 0)
    return fail(Errc::out_of_resources, "open /proc/self/ns/net", errno_text(errno));
  made.inode = about.st_ino;
  if (auto up = bring_loopback_up(); !up) return tl::unexpected(up.error());
  return made;
}

Status enter(const NetworkNamespace& place) {
  if (::setns(place.descriptor.fd(), CLONE_NEWNET) != 0)
    return fail(Errc::out_of_resources, "enter a network namespace", errno_text(errno));
  return {};
}

Status set_sysctl(const std::string& name, const std::string& value) {
  std::string path = "/proc/sys/" + name;
  std::replace(path.begin() + 10, path.end(), '.', '/');
  return write_file(path, value);
}

std::vector<pid_t> inhabitants(std::uint64_t inode) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{} || pid == ::getpid()) continue;
    struct stat about {};
    if (::stat((entry.path() / "ns" / "net").c_str(), &about) == 0 && about.st_ino == inode) found.push_back(pid);
  }
  return found;
}

void end_inhabitants(std::uint64_t inode) {
  constexpr int kGoneWithinMs = 2000;  // guess: a process that was killed goes at once, or hangs in the kernel for good
  constexpr int kRounds = 20;          // guess: what forks faster than that is not ours to outrun
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Descriptor> ending;
    for (const pid_t pid : inhabitants(inode)) {
      Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      if (process.valid() && ::kill(pid, SIGKILL) == 0) ending.push_back(std::move(process));
    }
    if (ending.empty()) return;
    for (const Descriptor& process : ending) {
      pollfd gone{.fd = process.fd(), .events = POLLIN, .revents = 0};
      ::poll(&gone, 1, kGoneWithinMs);
    }
  }
}

}  // namespace udtcat::wan
