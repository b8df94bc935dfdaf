// SPDX-License-Identifier: Apache-2.0
/// Two hosts, each in a network of its own behind a gateway to a network that they share, with a third host in it.
#pragma once

#include <string>

#include "support/namespaces.hpp"

namespace udtcat::test {

/// A kind of gateway, by its treatment of the traffic of the host behind it.
enum class Gateway {
  open,          ///< routes
  stateful,      ///< a firewall: UDP, and TCP to the ports of udtcat, come in as answers only
  masquerading,  ///< translates addresses, and keeps the port where it is free; takes no UDP for itself
  random,        ///< translates addresses, and draws a port for each flow
  without_udp,   ///< a firewall: no UDP at all
  only_ssh,      ///< a firewall: nor TCP to the ports of udtcat
  only_proxy,    ///< passes nothing: there may be a proxy on it
};

/// In the name of a test.
[[nodiscard]] std::string name_of(Gateway gateway);

/// Needs root; removed with the object. Other TCP to the far host passes its gateway: that of ssh. The ports of udtcat
/// are 9000 to 9200 here.
///
///   near ── near gateway ── middle ── far gateway ── far
///
/// Threads: unsynchronised.
class Gateways {
 public:
  Gateways(Gateway near, Gateway far);
  Gateways(const Gateways&) = delete;
  Gateways& operator=(const Gateways&) = delete;
  ~Gateways();

  [[nodiscard]] const Namespaces::Host& near_host() const { return near_; }
  [[nodiscard]] const Namespaces::Host& far_host() const { return far_; }
  [[nodiscard]] Namespaces::Host near_gateway() const { return gateway_of(near_, near_gateway_); }
  [[nodiscard]] Namespaces::Host far_gateway() const { return gateway_of(far_, far_gateway_); }
  /// Both others reach it.
  [[nodiscard]] const Namespaces::Host& middle_host() const { return middle_; }

 private:
  /// By the address in the network of `host`.
  [[nodiscard]] static Namespaces::Host gateway_of(const Namespaces::Host& host, const std::string& name);

  Namespaces::Host near_;
  Namespaces::Host far_;
  Namespaces::Host middle_;
  std::string near_gateway_;
  std::string far_gateway_;
};

}  // namespace udtcat::test
