#include "lib/net/udp_socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "lib/net/system_error.hpp"

namespace udtcat::net {

Result<UdpSocket> UdpSocket::open(AddressFamily family) {
  const bool ipv6 = family == AddressFamily::ipv6;
  const char* const what = ipv6 ? "open an IPv6 UDP socket" : "open an IPv4 UDP socket";
  UdpSocket opened(::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0),
                   ipv6 ? AddressFamily::ipv6 : AddressFamily::ipv4);
  if (opened.descriptor_ < 0) return tl::unexpected(system_error(Errc::cannot_bind, what, errno));
  const int on = 1;
  if (::fcntl(opened.descriptor_, F_SETFD, FD_CLOEXEC) != 0 ||
      (ipv6 && ::setsockopt(opened.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0))
    return tl::unexpected(system_error(Errc::cannot_bind, what, errno));
  return opened;
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), family_(other.family_) {}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(family_, other.family_);
  return *this;
}

UdpSocket::~UdpSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int UdpSocket::release() { return std::exchange(descriptor_, -1); }

Status UdpSocket::bind(const Endpoint& local) {
  if (::bind(descriptor_, local.data(), static_cast<socklen_t>(local.size_bytes())) == 0) return {};
  return tl::unexpected(system_error(Errc::cannot_bind, fmt::format("bind udp {}", local.to_string()), errno));
}

Status UdpSocket::connect(const Endpoint& peer) {
  if (::connect(descriptor_, peer.data(), static_cast<socklen_t>(peer.size_bytes())) == 0) return {};
  return tl::unexpected(system_error(Errc::cannot_reach, fmt::format("connect udp {}", peer.to_string()), errno));
}

Result<Endpoint> UdpSocket::local_endpoint() const {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* const address =
      reinterpret_cast<sockaddr*>(&storage);  // SAFETY: sockaddr_storage is made to be read as any sockaddr
  if (::getsockname(descriptor_, address, &length) != 0)
    return tl::unexpected(system_error(Errc::cannot_bind, "read the address of a udp socket", errno));
  return Endpoint::from_sockaddr(address, length);
}

Result<UdpSocket> UdpSocket::duplicate(int lowest) const {
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, lowest);
  if (copy < 0) return tl::unexpected(system_error(Errc::out_of_resources, "duplicate a udp socket", errno));
  return UdpSocket(copy, family_);
}

void UdpSocket::wait_readable(std::chrono::nanoseconds limit) const {
  pollfd waited{descriptor_, POLLIN, 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit);
  std::ignore = ::poll(&waited, 1, static_cast<int>(milliseconds.count()));  // whatever ended it, the caller looks
}

void UdpSocket::discard_received() {
  std::array<std::byte, 1> nothing{};
  while (::recv(descriptor_, nothing.data(), nothing.size(), MSG_DONTWAIT | MSG_TRUNC) >= 0) {
  }
}

}  // namespace udtcat::net
