// SPDX-License-Identifier: Apache-2.0
/// Two hosts, each in a network of its own behind a gateway to a network that they share, with a third host in it.
#pragma once

#include <chrono>
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

  enum class Way { both, to_far, to_near };
  /// A rule at the near gateway drops the datagrams between the two hosts; those of either with the middle pass.
  void cut_direct(Way way = Way::both);
  /// At the far gateway, both ways, before it translates.
  void cut_direct_at_far();
  /// There is a rule at one of them.
  void open_direct();
  /// A gateway forgets the flows that it knows; one that translates gives each another port where it draws them.
  void forget_flows_of_near();
  void forget_flows_of_far();
  /// Each new flow through a gateway has one of 16 addresses, so that its host looks like as many. Both are open ones.
  void translate_to_many();
  /// Both gateways forget a UDP flow in which nothing has come for so long.
  void set_udp_timeout(std::chrono::seconds timeout);

 private:
  /// By the address in the network of `host`.
  [[nodiscard]] static Namespaces::Host gateway_of(const Namespaces::Host& host, const std::string& name);

  void cut_at(const std::string& gateway, const std::string& device);

  Namespaces::Host near_;
  Namespaces::Host far_;
  Namespaces::Host middle_;
  std::string near_gateway_;
  std::string far_gateway_;
  std::string cut_at_;  // the gateway with the rule
};

}  // namespace udtcat::test
