// SPDX-License-Identifier: Apache-2.0
#include "lib/net/udp_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include <ctime>  // errqueue.h uses timespec without saying so

#include "lib/core/try.hpp"
#include "lib/net/system_error.hpp"
#include "lib/net/train.hpp"

namespace udtcat::net {

Result<UdpSocket> UdpSocket::open(AddressFamily family) {
  const bool ipv6 = family == AddressFamily::ipv6;
  const char* const what = ipv6 ? "open an IPv6 UDP socket" : "open an IPv4 UDP socket";
  UdpSocket opened(::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0),
                   ipv6 ? AddressFamily::ipv6 : AddressFamily::ipv4);
  if (opened.descriptor_ < 0) return system_error(Errc::cannot_bind, what, errno);
  const int on = 1;
  if (::fcntl(opened.descriptor_, F_SETFD, FD_CLOEXEC) != 0 ||
      (ipv6 && ::setsockopt(opened.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0))
    return system_error(Errc::cannot_bind, what, errno);
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
  return system_error(Errc::cannot_bind, fmt::format("bind udp {}", local.to_string()), errno);
}

Status UdpSocket::connect(const Endpoint& peer) {
  if (::connect(descriptor_, peer.data(), static_cast<socklen_t>(peer.size_bytes())) == 0) return {};
  return system_error(Errc::cannot_reach, fmt::format("connect udp {}", peer.to_string()), errno);
}

Result<Endpoint> UdpSocket::local_endpoint() const {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* const address =
      reinterpret_cast<sockaddr*>(&storage);  // SAFETY: sockaddr_storage is made to be read as any sockaddr
  if (::getsockname(descriptor_, address, &length) != 0)
    return system_error(Errc::cannot_bind, "read the address of a udp socket", errno);
  return Endpoint::from_sockaddr(address, length);
}

Result<UdpSocket> UdpSocket::duplicate(int lowest) const {
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, lowest);
  if (copy < 0) return system_error(Errc::out_of_resources, "duplicate a udp socket", errno);
  return UdpSocket(copy, family_);
}

void UdpSocket::discard_received() {
  std::array<std::byte, 1> nothing{};
  while (::recv(descriptor_, nothing.data(), nothing.size(), MSG_DONTWAIT | MSG_TRUNC) >= 0) {
  }
}

namespace {

void wish_buffer(int descriptor, int forced_option, int option, std::size_t bytes) {
  if (bytes == 0) return;
  const int wish = static_cast<int>(bytes);
  if (::setsockopt(descriptor, SOL_SOCKET, forced_option, &wish, sizeof wish) == 0) return;
  // Without the privilege the system clips the size to its ceiling.
  ::setsockopt(descriptor, SOL_SOCKET, option, &wish, sizeof wish);
}

bool says_port_unreachable(const sock_extended_err& error) {
  if (error.ee_origin == SO_EE_ORIGIN_ICMP)
    return error.ee_type == ICMP_DEST_UNREACH && error.ee_code == ICMP_PORT_UNREACH;
  if (error.ee_origin == SO_EE_ORIGIN_ICMP6)
    return error.ee_type == ICMP6_DST_UNREACH && error.ee_code == ICMP6_DST_UNREACH_NOPORT;
  return false;
}

std::size_t told_path_mtu(const sock_extended_err& error) {
  return error.ee_errno == EMSGSIZE && error.ee_origin != SO_EE_ORIGIN_LOCAL ? error.ee_info : 0;
}

bool is_path_error(const cmsghdr& header) {
  return (header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_RECVERR) ||
         (header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_RECVERR);
}

std::optional<PathError> read_path_error(msghdr& message) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (!is_path_error(*header)) continue;
    const auto error = ancillary_value<sock_extended_err>(*header);
    auto peer = Endpoint::from_sockaddr(static_cast<const sockaddr*>(message.msg_name), message.msg_namelen);
    if (!peer) return std::nullopt;
    return PathError{*peer, static_cast<int>(error.ee_errno), says_port_unreachable(error), told_path_mtu(error)};
  }
  return std::nullopt;
}

}  // namespace

void UdpSocket::request_buffers(std::size_t receive_bytes, std::size_t send_bytes) {
  wish_buffer(descriptor_, SO_RCVBUFFORCE, SO_RCVBUF, receive_bytes);
  wish_buffer(descriptor_, SO_SNDBUFFORCE, SO_SNDBUF, send_bytes);
}

Status UdpSocket::keep_path_errors() {
  const int on = 1;
  const int kept = family_ == AddressFamily::ipv6
                       ? ::setsockopt(descriptor_, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on)
                       : ::setsockopt(descriptor_, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  if (kept == 0) return {};
  return system_error(Errc::cannot_bind, "ask for ICMP errors of a udp socket", errno);
}

std::vector<PathError> UdpSocket::take_path_errors(std::size_t limit) {
  std::vector<PathError> taken;
  for (std::size_t i = 0; i < limit; ++i) {
    sockaddr_storage name{};
    alignas(cmsghdr) std::array<std::byte, 512> control{};
    msghdr message{};
    message.msg_name = &name;
    message.msg_namelen = sizeof name;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(descriptor_, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) break;
    if (auto error = read_path_error(message)) taken.push_back(*error);
  }
  return taken;
}

std::optional<std::chrono::system_clock::time_point> UdpSocket::last_arrival() const {
  timeval last{};
  if (::ioctl(descriptor_, SIOCGSTAMP, &last) != 0) return std::nullopt;
  return std::chrono::system_clock::time_point(std::chrono::seconds(last.tv_sec) +
                                               std::chrono::microseconds(last.tv_usec));
}

std::optional<std::size_t> UdpSocket::path_mtu() const {
  int mtu = 0;
  socklen_t length = sizeof mtu;
  const int known = family_ == AddressFamily::ipv6 ? ::getsockopt(descriptor_, IPPROTO_IPV6, IPV6_MTU, &mtu, &length)
                                                   : ::getsockopt(descriptor_, IPPROTO_IP, IP_MTU, &mtu, &length);
  if (known != 0 || mtu <= 0) return std::nullopt;
  return static_cast<std::size_t>(mtu);
}

namespace {

struct InterfacesDeleter {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::optional<std::size_t> mtu_of(const UdpSocket& socket, const char* interface_name) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface_name, sizeof request.ifr_name - 1);
  if (::ioctl(socket.descriptor(), SIOCGIFMTU, &request) != 0 || request.ifr_mtu <= 0) return std::nullopt;
  return static_cast<std::size_t>(request.ifr_mtu);
}

bool carries(const ifaddrs& interface, const Endpoint& local) {
  if (interface.ifa_addr == nullptr || (interface.ifa_flags & IFF_UP) == 0) return false;
  const bool ipv6 = local.family() == AddressFamily::ipv6;
  if (interface.ifa_addr->sa_family != (ipv6 ? AF_INET6 : AF_INET)) return false;
  if (local.is_wildcard()) return true;
  const auto address = Endpoint::from_sockaddr(interface.ifa_addr, ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  // 127.0.0.2 is no listed address and still the loopback interface's.
  if (local.is_loopback()) return (interface.ifa_flags & IFF_LOOPBACK) != 0;
  return address && address->host_to_string() == local.host_to_string();
}

}  // namespace

void wait_readable(int descriptor, std::chrono::nanoseconds limit) {
  pollfd waited{descriptor, POLLIN, 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit);
  std::ignore = ::poll(&waited, 1, static_cast<int>(milliseconds.count()));  // whatever ended it, the caller looks
}

std::optional<std::size_t> interface_mtu(const Endpoint& local) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, InterfacesDeleter> list(raw);
  const auto socket = UdpSocket::open(local.family());
  if (!socket) return std::nullopt;
  std::optional<std::size_t> largest;
  for (const ifaddrs* each = list.get(); each != nullptr; each = each->ifa_next) {
    if (!carries(*each, local)) continue;
    if (const auto mtu = mtu_of(*socket, each->ifa_name)) largest = std::max(largest.value_or(0), *mtu);
  }
  return largest;
}

}  // namespace udtcat::net
