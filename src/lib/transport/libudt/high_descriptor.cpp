#include "lib/transport/libudt/high_descriptor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "lib/net/system_error.hpp"

namespace udtcat::transport::libudt {

namespace {

constexpr rlim_t kMostDescriptors = 4096;  // guess: the kernel's table is as large as its highest number

int next_floor() {
  static std::atomic<unsigned> turn{0};
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const auto numbers = static_cast<unsigned>(std::min(limit.rlim_cur, kMostDescriptors));
  const unsigned quarter = std::max(numbers / 4, 1U);
  return static_cast<int>(numbers / 2 + turn.fetch_add(1) % quarter);
}

}  // namespace

Result<net::UdpSocket> duplicate_high(const net::UdpSocket& socket) {
  auto high = socket.duplicate(next_floor());
  return high ? std::move(high) : socket.duplicate();
}

Status replace_descriptor(int descriptor, const net::UdpSocket& socket) {
  timeval timeout{};
  socklen_t length = sizeof timeout;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, &length) != 0 ||
      ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      ::dup2(socket.descriptor(), descriptor) < 0 || ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
    return tl::unexpected(net::system_error(Errc::out_of_resources, "put a udp socket under UDT", errno));
  return {};
}

}  // namespace udtcat::transport::libudt
