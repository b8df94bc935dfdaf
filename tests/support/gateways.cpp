// SPDX-License-Identifier: Apache-2.0
#include "support/gateways.hpp"

#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

#include <unistd.h>

#include "support/process.hpp"

namespace udtcat::test {

namespace {

Ran shell(const std::string& script) { return run({.argv = {"bash", "-c", "set -e; " + script}}); }

void must(const std::string& script) {
  const Ran ran = shell(script);
  if (ran.status == 0) return;
  std::fprintf(stderr, "the test cannot go on: %s: %s\n", script.c_str(), ran.errors.c_str());
  std::abort();
}

std::string netns_name(const std::string& suffix) { return "udtcat-e2e-" + std::to_string(::getpid()) + suffix; }

Namespaces::Host host_in(const std::string& suffix, const std::string& network) {
  const std::string its = netns_name(suffix);
  return {.name = its, .file = "/run/netns/" + its, .ipv4 = network + ".2", .ipv6 = "2001:db8::1"};  // nobody has it
}

/// Whether it translates addresses: no host outside has a route to those behind it.
bool translates(Gateway gateway) { return gateway == Gateway::masquerading || gateway == Gateway::random; }

/// The rules of a gateway with `in` towards its host and `out` towards the shared network.
std::string rules_of(Gateway gateway) {
  const std::string forward = "chain f { type filter hook forward priority 0; ";
  const std::string to_udtcat = "tcp dport 9000-9200 ct state new drop";
  const std::string new_udp = "iifname out meta l4proto udp ct state new drop";
  const std::string translate = "chain p { type nat hook postrouting priority 100; oifname out masquerade";
  switch (gateway) {
    case Gateway::open:
      return {};
    case Gateway::stateful:
      return forward + new_udp + "; iifname out " + to_udtcat + "\n}";
    case Gateway::masquerading:
      // UDP to the router itself is dropped: else it would become a flow, and have the port.
      return translate + "\n}\nchain i { type filter hook input priority 0; " + new_udp + "\n}";
    case Gateway::random:
      return translate + " random\n}";
    case Gateway::without_udp:
      return forward + "meta l4proto udp drop\n}";
    case Gateway::only_ssh:
      return forward + "meta l4proto udp drop; " + to_udtcat + "\n}";
    case Gateway::only_proxy:
      return forward + "drop\n}";
  }
  return {};
}

/// A host in `network` behind a gateway whose address in the shared network is `own`.
void put_behind(const Namespaces::Host& host, const std::string& gateway, const std::string& network,
                const std::string& own, Gateway kind) {
  must("ip netns add " + host.name + "; ip link add veth netns " + host.name + " type veth peer name in netns " +
       gateway + "; ip -n " + host.name + " address add " + network + ".2/24 dev veth; ip -n " + host.name +
       " link set lo up; ip -n " + host.name + " link set veth up; ip -n " + host.name + " route add default via " +
       network + ".1; ip -n " + gateway + " address add " + network + ".1/24 dev in; ip -n " + gateway +
       " address add " + own + "/24 dev out; ip -n " + gateway + " link set in up; ip -n " + gateway +
       " link set out up; ip netns exec " + gateway + " sysctl -qw net.ipv4.ip_forward=1");
  if (const std::string text = rules_of(kind); !text.empty())
    must("ip netns exec " + gateway + " nft 'table ip g { " + text + "\n}'");
}

}  // namespace

Gateways::Gateways(Gateway near, Gateway far)
    : near_(host_in("-near", "10.71.0")),
      far_(host_in("-far", "10.72.0")),
      middle_(host_in("-middle", "198.51.100")),
      near_gateway_(netns_name("-near-gateway")),
      far_gateway_(netns_name("-far-gateway")) {
  middle_.ipv4 = "198.51.100.3";
  must("ip netns add " + near_gateway_ + "; ip netns add " + far_gateway_ + "; ip netns add " + middle_.name +
       "; ip -n " + middle_.name + " link set lo up; ip -n " + middle_.name + " link add shared type bridge; ip -n " +
       middle_.name + " address add 198.51.100.3/24 dev shared; ip -n " + middle_.name + " link set shared up");
  for (const auto& [gateway, port] : {std::pair(near_gateway_, "near"), std::pair(far_gateway_, "far")})
    must("ip link add out netns " + gateway + " type veth peer name " + port + " netns " + middle_.name + "; ip -n " +
         middle_.name + " link set " + port + " master shared up");
  put_behind(near_, near_gateway_, "10.71.0", "198.51.100.1", near);
  put_behind(far_, far_gateway_, "10.72.0", "198.51.100.2", far);
  if (!translates(far)) must("ip -n " + near_gateway_ + " route add 10.72.0.0/24 via 198.51.100.2");
  if (!translates(near)) must("ip -n " + far_gateway_ + " route add 10.71.0.0/24 via 198.51.100.1");
  if (!translates(far)) must("ip -n " + middle_.name + " route add 10.72.0.0/24 via 198.51.100.2");
  if (!translates(near)) must("ip -n " + middle_.name + " route add 10.71.0.0/24 via 198.51.100.1");
}

Gateways::~Gateways() {
  for (const std::string& each : {near_.name, far_.name, middle_.name, near_gateway_, far_gateway_})
    std::ignore = shell("ip netns delete " + each);
}

Namespaces::Host Gateways::gateway_of(const Namespaces::Host& host, const std::string& name) {
  Namespaces::Host gateway{.name = name, .file = "/run/netns/" + name, .ipv4 = host.ipv4, .ipv6 = host.ipv6};
  gateway.ipv4.back() = '1';
  return gateway;
}

void Gateways::cut_direct(Way way) {
  cut_at(near_gateway_, way == Way::both ? "" : way == Way::to_far ? "oifname out " : "iifname out ");
}

void Gateways::cut_direct_at_far() { cut_at(far_gateway_, ""); }

void Gateways::cut_at(const std::string& gateway, const std::string& device) {
  must("ip netns exec " + gateway + " nft 'table ip cut { chain f { type filter hook forward priority -10; " + device +
       "meta l4proto udp ip saddr != 198.51.100.3 ip daddr != 198.51.100.3 drop\n}\n}'");
  cut_at_ = gateway;
}

void Gateways::open_direct() { must("ip netns exec " + cut_at_ + " nft delete table ip cut"); }

namespace {

/// By netlink, as conntrack -F does it.
void forget_flows_of(const std::string& gateway) {
  must("ip netns exec " + gateway + R"( python3 -c '
import socket, struct
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
body = struct.pack("=BBH", socket.AF_INET, 0, 0)
netlink.send(struct.pack("=IHHII", 16 + len(body), 1 << 8 | 2, 1 | 4, 1, 0) + body)
assert struct.unpack("=i", netlink.recv(4096)[16:20]) == (0,)
')");
}

}  // namespace

void Gateways::translate_to_many() {
  for (const auto& [gateway, first] : {std::pair(near_gateway_, 32), std::pair(far_gateway_, 64)}) {
    std::string addresses;
    std::string map;
    for (int i = 0; i < 16; ++i) {
      const std::string address = "198.51.100." + std::to_string(first + i);
      addresses += "ip -n " + gateway + " address add " + address + "/24 dev out; ";
      map += (i == 0 ? "" : ", ") + std::to_string(i) + " : " + address;
    }
    must(
        addresses + "ip netns exec " + gateway +
        " nft 'table ip many { chain p { type nat hook postrouting priority 100; oifname out snat to numgen inc mod 16 "
        "map { " +
        map + " }\n}\n}'");
  }
}

void Gateways::forget_flows_of_near() { forget_flows_of(near_gateway_); }

void Gateways::forget_flows_of_far() { forget_flows_of(far_gateway_); }

void Gateways::set_udp_timeout(std::chrono::seconds timeout) {
  const std::string seconds = std::to_string(timeout.count());
  for (const std::string& each : {near_gateway_, far_gateway_})
    must("ip netns exec " + each + " sysctl -qw net.netfilter.nf_conntrack_udp_timeout=" + seconds +
         " net.netfilter.nf_conntrack_udp_timeout_stream=" + seconds);
}

std::string name_of(Gateway gateway) {
  switch (gateway) {
    case Gateway::open:
      return "Open";
    case Gateway::stateful:
      return "Stateful";
    case Gateway::masquerading:
      return "Masquerading";
    case Gateway::random:
      return "Random";
    case Gateway::without_udp:
      return "WithoutUdp";
    case Gateway::only_ssh:
      return "OnlySsh";
    case Gateway::only_proxy:
      return "OnlyProxy";
  }
  return {};
}

}  // namespace udtcat::test
