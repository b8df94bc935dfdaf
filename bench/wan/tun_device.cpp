// SPDX-License-Identifier: Apache-2.0
#include "wan/tun_device.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

constexpr unsigned kUso4 = 0x20;  // spec: TUN_F_USO4 and TUN_F_USO6, Linux 6.2, newer than Debian 12's headers
constexpr unsigned kUso6 = 0x40;
constexpr unsigned kTsoOffloads = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
constexpr int kQueuePackets =
    20'000;  // guess: what the kernel sends before the lab gets its turn must not be lost here

tl::unexpected<Error> refused(const std::string& what) {
  return fail(Errc::out_of_resources, what, core::errno_text(errno));
}

ifreq request_for_device() {
  ifreq request{};
  std::string_view(TunDevice::kName).copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

/// Adds or removes an IPv6 address; errno says why not. Source: rtnetlink(7). An address that ioctl() adds is tentative
/// for a moment, in which a socket that connects takes the link's own address and is never answered.
bool change_ipv6(const Descriptor& netlink, std::uint16_t type, const std::string& address, int interface) {
  struct Request {
    nlmsghdr header;
    ifaddrmsg message;
    rtattr attribute;
    in6_addr address;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (type == RTM_NEWADDR ? NLM_F_CREATE : 0);
  request.message.ifa_family = AF_INET6;
  request.message.ifa_prefixlen = 64;
  request.message.ifa_flags = IFA_F_NODAD;
  request.message.ifa_index = static_cast<unsigned>(interface);
  request.attribute = {.rta_len = RTA_LENGTH(sizeof request.address), .rta_type = IFA_LOCAL};
  ::inet_pton(AF_INET6, address.c_str(), &request.address);

  struct Reply {
    nlmsghdr header;
    nlmsgerr error;
  } reply{};
  if (::send(netlink.fd(), &request, sizeof request, 0) < 0 ||
      ::recv(netlink.fd(), &reply, sizeof reply, MSG_TRUNC) < 0)
    return false;
  errno = -reply.error.error;
  return errno == 0;
}

/// A TUN of an older kernel cuts UDP itself: correct, and slower.
bool take_offloads(int device) {
  return ::ioctl(device, TUNSETOFFLOAD, kTsoOffloads | kUso4 | kUso6) == 0 ||
         ::ioctl(device, TUNSETOFFLOAD, kTsoOffloads) == 0;
}

}  // namespace

Addresses addresses_of(unsigned number) {
  return {.ipv4 = "10.77.0." + std::to_string(number), .ipv6 = "fd77::" + std::to_string(number)};
}

Result<TunDevice> TunDevice::create(const Addresses& addresses, unsigned mtu_bytes) {
  TunDevice made(Descriptor(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)));
  if (!made.device_.valid()) return refused("open /dev/net/tun");
  ifreq request = request_for_device();
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(made.device_.fd(), TUNSETIFF, &request) != 0) return refused("make a TUN device");
  if (!take_offloads(made.device_.fd())) return refused("turn on segmentation offload of a TUN device");

  made.ipv4_ = Descriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  made.netlink_ = Descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  request = request_for_device();
  request.ifr_qlen = kQueuePackets;
  // Only the host's root may; without it a link is as good, but for bursts beyond the kernel's 500 packets.
  if (::ioctl(made.ipv4_.fd(), SIOCSIFTXQLEN, &request) != 0 && errno != EPERM)
    return refused("set the queue length of a TUN device");
  request.ifr_mtu = static_cast<int>(mtu_bytes);
  if (::ioctl(made.ipv4_.fd(), SIOCSIFMTU, &request) != 0)
    return refused("set the MTU of a TUN device to " + std::to_string(mtu_bytes));
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(made.ipv4_.fd(), SIOCSIFFLAGS, &request) != 0) return refused("bring a TUN device up");
  if (auto assigned = made.assign(addresses); !assigned) return tl::unexpected(assigned.error());
  return made;
}

Status TunDevice::assign(const Addresses& addresses) {
  ifreq request = request_for_device();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, addresses.ipv4.c_str(), &address.sin_addr);
  std::memcpy(&request.ifr_addr, &address, sizeof address);
  if (::ioctl(ipv4_.fd(), SIOCSIFADDR, &request) != 0) return refused("set the address " + addresses.ipv4);
  ::inet_pton(AF_INET, "255.255.255.0", &address.sin_addr);
  std::memcpy(&request.ifr_netmask, &address, sizeof address);
  if (::ioctl(ipv4_.fd(), SIOCSIFNETMASK, &request) != 0) return refused("set the netmask of " + addresses.ipv4);

  request = request_for_device();
  if (::ioctl(ipv4_.fd(), SIOCGIFINDEX, &request) != 0) return refused("find a TUN device");
  const int interface = request.ifr_ifindex;
  if (!addresses_.ipv6.empty()) change_ipv6(netlink_, RTM_DELADDR, addresses_.ipv6, interface);
  addresses_ = addresses;
  if (change_ipv6(netlink_, RTM_NEWADDR, addresses.ipv6, interface)) return {};
  // A host without IPv6 has a link without IPv6.
  if (errno != EOPNOTSUPP) return refused("set the address " + addresses.ipv6);
  addresses_.ipv6.clear();
  return {};
}

Status TunDevice::readdress(const Addresses& addresses) { return assign(addresses); }

std::size_t TunDevice::read(std::span<std::byte> into) const {
  const ssize_t bytes = ::read(device_.fd(), into.data(), into.size());
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

bool TunDevice::write(std::span<const std::byte> packet) const {
  return ::write(device_.fd(), packet.data(), packet.size()) == static_cast<ssize_t>(packet.size());
}

}  // namespace udtcat::wan
