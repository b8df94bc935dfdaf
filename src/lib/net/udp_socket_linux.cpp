// What only Linux offers: buffers past the ceiling, the queue of ICMP errors, times of arrival, the MTU of a route.
#include <ctime>  // errqueue.h uses timespec without saying so

#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "lib/net/system_error.hpp"
#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

namespace {

void wish_buffer(int descriptor, int forced_option, int option, std::size_t bytes) {
  if (bytes == 0) return;
  const int wish = static_cast<int>(bytes);
  if (::setsockopt(descriptor, SOL_SOCKET, forced_option, &wish, sizeof wish) == 0) return;
  // Not privileged: the system clips the wish to its ceiling, which is the best there is.
  ::setsockopt(descriptor, SOL_SOCKET, option, &wish, sizeof wish);
}

bool says_port_unreachable(const sock_extended_err& error) {
  if (error.ee_origin == SO_EE_ORIGIN_ICMP)
    return error.ee_type == ICMP_DEST_UNREACH && error.ee_code == ICMP_PORT_UNREACH;
  if (error.ee_origin == SO_EE_ORIGIN_ICMP6)
    return error.ee_type == ICMP6_DST_UNREACH && error.ee_code == ICMP6_DST_UNREACH_NOPORT;
  return false;
}

bool is_path_error(const cmsghdr& header) {
  return (header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_RECVERR) ||
         (header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_RECVERR);
}

std::optional<PathError> read_path_error(msghdr& message) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (!is_path_error(*header)) continue;
    sock_extended_err error{};
    std::memcpy(&error, CMSG_DATA(header), sizeof error);
    auto peer = Endpoint::from_sockaddr(static_cast<const sockaddr*>(message.msg_name), message.msg_namelen);
    if (!peer) return std::nullopt;
    return PathError{*peer, static_cast<int>(error.ee_errno), says_port_unreachable(error)};
  }
  return std::nullopt;
}

}  // namespace

void UdpSocket::wish_buffers(std::size_t receive_bytes, std::size_t send_bytes) {
  wish_buffer(descriptor_, SO_RCVBUFFORCE, SO_RCVBUF, receive_bytes);
  wish_buffer(descriptor_, SO_SNDBUFFORCE, SO_SNDBUF, send_bytes);
}

Status UdpSocket::keep_path_errors() {
  const int on = 1;
  const int kept = family_ == AddressFamily::ipv6
                       ? ::setsockopt(descriptor_, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on)
                       : ::setsockopt(descriptor_, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  if (kept == 0) return {};
  return tl::unexpected(system_error(Errc::cannot_bind, "ask for ICMP errors of a udp socket", errno));
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

}  // namespace udtcat::net
