// SPDX-License-Identifier: Apache-2.0
/// Two hosts behind gateways and a meeting place between them, for end-to-end tests.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "e2e/support/udtcat_test.hpp"
#include "support/gateways.hpp"

namespace udtcat::test::e2e {

/// The near host dials, the far one listens. Skipped for a user who may not make network namespaces.
class MeetingTest : public UdtcatTest {
 protected:
  void SetUp() override;
  /// Makes the hosts, and starts the place. Where a host has only a proxy, one is started.
  void meet(Gateway near, Gateway far);
  void start_place();
  [[nodiscard]] Process& place() { return *place_; }
  [[nodiscard]] Gateways& hosts() { return *hosts_; }
  [[nodiscard]] std::string place_address() const { return hosts_->middle_host().ipv4; }

  [[nodiscard]] Process listen_via(End end = {}) const;
  [[nodiscard]] Process connect_via(End end = {}) const;
  /// Of the user at the far host.
  [[nodiscard]] Arguments far_environment() const { return environment_of(far_proxy_, hosts_->far_gateway()); }
  /// A script at the near host, in the test's home, with $UDTCAT and $PLACE.
  [[nodiscard]] Ran near(const std::string& script, std::chrono::milliseconds limit = kTransferLimit) const;

  /// Of -v: the last word of the connector on the way of its session.
  [[nodiscard]] bool is_relayed(const Process& connector) const;
  [[nodiscard]] bool goes_direct(const Process& connector) const;

 private:
  [[nodiscard]] Process start_proxy(const Namespaces::Host& gateway) const;
  [[nodiscard]] static Arguments environment_of(const std::optional<Process>& proxy, const Namespaces::Host& gateway);

  std::optional<Gateways> hosts_;
  std::optional<Process> near_proxy_;
  std::optional<Process> far_proxy_;
  std::optional<Process> place_;
};

/// The longest time in which any of several consumers read nothing, from its making on.
/// Threads: internally synchronised; looks every few milliseconds on a thread of its own, whatever the test does.
class GapWatch {
 public:
  explicit GapWatch(std::vector<const Consumer*> consumers);
  static void for_a_while(std::chrono::milliseconds time) { let_pass(time); }
  [[nodiscard]] std::chrono::milliseconds longest() const { return std::chrono::milliseconds(longest_ms_); }

 private:
  struct Seen {
    const Consumer* consumer;
    std::uint64_t bytes;
    Clock::time_point at;
  };
  void look();

  std::vector<Seen> seen_;
  std::atomic<std::int64_t> longest_ms_{0};
  std::jthread thread_;
};

enum class Data { both_ways, to_listener, to_connector };

/// Data that flow through a pipe until the test ends them.
class MeetingWithData : public MeetingTest {
 protected:
  void begin(Data data);
  [[nodiscard]] GapWatch watch() const;
  /// Ends the data. Both ends exit as they should, with every byte.
  void expect_all_there();
  static void say(const char* what, const GapWatch& watch);

  std::optional<Producer> to_listener_;
  std::optional<Producer> to_connector_;
  Consumer at_listener_;
  Consumer at_connector_;
  std::optional<Process> listener_;
  std::optional<Process> connector_;
};

}  // namespace udtcat::test::e2e
