// SPDX-License-Identifier: Apache-2.0
#include "lib/net/port_filter.hpp"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>

#include "lib/net/system_error.hpp"

namespace udtcat::net {

namespace {

constexpr std::uint32_t kTypeMask = 0xffff'0000;    // spec: udt4.md §3: of a control packet's first word
constexpr std::uint32_t kHandshake = 0x8000'0000;   // spec: udt4.md §3
constexpr std::uint32_t kStunCookie = 0x2112'a442;  // spec: RFC 8489 §5: the second word
constexpr std::uint32_t kIdOffset = 12;             // spec: udt4.md §3

Status attach_program(const UdpSocket& socket, std::span<sock_filter> code) {
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::setsockopt(socket.descriptor(), SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) == 0) return {};
  return system_error(Errc::cannot_bind, "steer datagrams among the sockets of a port", errno);
}

/// Runs of sequence numbers, in turn. A control packet's word is its type: one socket gets all of a type.
Status attach_for_one_port(const UdpSocket& socket, const PortFilter& filter) {
  std::array<sock_filter, 4> code{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                                   BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, filter.run_packets),
                                   BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, filter.sockets), BPF_STMT(BPF_RET | BPF_A, 0)}};
  return attach_program(socket, code);
}

}  // namespace

Status share_port(const UdpSocket& socket) {
  const int on = 1;
  if (::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) return {};
  return system_error(Errc::cannot_bind, "share a udp port", errno);
}

/// A load from behind the end of a datagram ends the program with 0, the first socket.
Status attach(const UdpSocket& socket, const PortFilter& filter) {
  if (filter.ports == 1) return attach_for_one_port(socket, filter);
  std::array<sock_filter, 17> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kTypeMask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kHandshake, 13, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kStunCookie, 11, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kIdOffset),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, filter.ports),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, filter.open_ports, 8, 0),
      BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, filter.sockets),
      BPF_STMT(BPF_ST, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, filter.run_packets),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, filter.sockets),
      BPF_STMT(BPF_LDX | BPF_MEM, 0),
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
      BPF_STMT(BPF_RET | BPF_A, 0),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  return attach_program(socket, code);
}

}  // namespace udtcat::net
