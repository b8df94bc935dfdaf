// SPDX-License-Identifier: Apache-2.0
#include "support/namespaces.hpp"

#include <cstdio>
#include <cstdlib>
#include <tuple>

#include <unistd.h>

#include "support/process.hpp"

namespace udtcat::test {

namespace {

Ran ip(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ip");
  return run({.argv = std::move(arguments)});
}

void must_ip(const std::vector<std::string>& arguments) {
  const Ran ran = ip(arguments);
  if (ran.status == 0) return;
  std::fprintf(stderr, "the test cannot go on: ip: %s\n", ran.errors.c_str());
  std::abort();
}

Namespaces::Host host(const std::string& suffix, const std::string& number) {
  const std::string name = "udtcat-e2e-" + std::to_string(::getpid()) + suffix;
  return {.name = name, .file = "/run/netns/" + name, .ipv4 = "10.77.0." + number, .ipv6 = "fd77::" + number};
}

void bring_up(const Namespaces::Host& host) {
  must_ip({"-n", host.name, "address", "add", host.ipv4 + "/24", "dev", "veth"});
  must_ip({"-n", host.name, "address", "add", host.ipv6 + "/64", "dev", "veth", "nodad"});
  must_ip({"-n", host.name, "link", "set", "lo", "up"});
  must_ip({"-n", host.name, "link", "set", "veth", "up"});
}

void mislead(const Namespaces::Host& host, const std::string& peer_address) {
  must_ip({"-n", host.name, "neighbour", "replace", peer_address, "lladdr", "02:00:00:00:00:99", "nud", "permanent",
           "dev", "veth"});
}

void set_right(const Namespaces::Host& host, const std::string& peer_address) {
  must_ip({"-n", host.name, "neighbour", "delete", peer_address, "dev", "veth"});
}

}  // namespace

bool Namespaces::allowed() { return ::geteuid() == 0; }

Namespaces::Namespaces() : near_(host("-near", "1")), far_(host("-far", "2")) {
  must_ip({"netns", "add", near_.name});
  must_ip({"netns", "add", far_.name});
  must_ip({"link", "add", "veth", "netns", near_.name, "type", "veth", "peer", "name", "veth", "netns", far_.name});
  bring_up(near_);
  bring_up(far_);
}

Namespaces::~Namespaces() {
  // Both are tried; one that is gone already is as good as removed.
  std::ignore = ip({"netns", "delete", near_.name});
  std::ignore = ip({"netns", "delete", far_.name});
}

void Namespaces::black_hole() {
  mislead(near_, far_.ipv4);
  mislead(near_, far_.ipv6);
  mislead(far_, near_.ipv4);
  mislead(far_, near_.ipv6);
}

void Namespaces::restore() {
  set_right(near_, far_.ipv4);
  set_right(near_, far_.ipv6);
  set_right(far_, near_.ipv4);
  set_right(far_, near_.ipv6);
}

}  // namespace udtcat::test
