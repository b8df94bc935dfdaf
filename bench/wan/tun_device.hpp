// SPDX-License-Identifier: Apache-2.0
/// One end of the emulated link: a TUN device that hands over super-packets.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <udtcat/result.hpp>

#include "wan/descriptor.hpp"

namespace udtcat::wan {

/// The addresses of an end; the link's networks are 10.77.0.0/24 and fd77::/64.
struct Addresses {
  std::string ipv4;
  std::string ipv6;
};
/// number   1 to 254
[[nodiscard]] Addresses addresses_of(unsigned number);

/// In the network namespace that the caller was in when it was made. Threads: unsynchronised.
class TunDevice {
 public:
  static constexpr auto kName = "wan0";

  /// errors   Errc::out_of_resources: what the system refused
  [[nodiscard]] static Result<TunDevice> create(const Addresses& addresses, unsigned mtu_bytes);

  /// Over any descriptor that gives and takes a packet a call.
  explicit TunDevice(Descriptor device) : device_(std::move(device)) {}

  /// Takes the old addresses away; traffic goes on from and to the new.
  [[nodiscard]] Status readdress(const Addresses& addresses);

  [[nodiscard]] int fd() const { return device_.fd(); }
  /// The next packet, virtio header first; 0 if there is none now.
  [[nodiscard]] std::size_t read(std::span<std::byte> into) const;
  /// Hands a packet to the kernel of this end. What it does not take is lost, as on any link.
  bool write(std::span<const std::byte> packet) const;

 private:
  [[nodiscard]] Status assign(const Addresses& addresses);

  Descriptor device_;
  Descriptor ipv4_;  // sockets of the namespace, for configuring it from outside
  Descriptor netlink_;
  Addresses addresses_;
};

}  // namespace udtcat::wan
