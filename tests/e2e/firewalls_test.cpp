// SPDX-License-Identifier: Apache-2.0
/// src/ssh/connectivity_checks.hpp: hosts behind firewalls and address translation, by ssh. Real sshd, sessions by UDP
/// without a port that is open.
#include <optional>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"
#include "support/gateways.hpp"
#include "support/ssh_host.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

struct Hosts {
  Gateway near;
  Gateway far;
};

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
  }
  return {};
}

class Firewalls : public testing::TestWithParam<Hosts> {
 protected:
  void SetUp() override {
    if (!Namespaces::allowed()) GTEST_SKIP() << "needs root";
    hosts_.emplace(GetParam().near, GetParam().far);
    ssh_.emplace(hosts_->far_host());
  }
  [[nodiscard]] Ran near(const std::string& script) const {
    return run({.argv = {"bash", "-c", script},
                .environment = {"HOME=" + home_.path().string(), "UDTCAT=" UDTCAT_BINARY,
                                "RSH=" UDTCAT_BINARY " rsh -F " + ssh_->ssh_config().string(),
                                "SSH=ssh -F " + ssh_->ssh_config().string(), "FAR=" + ssh_->far_home().path().string()},
                .working_directory = home_.path(),
                .network_namespace = hosts_->near_host().file},
               patience(std::chrono::seconds(60)));
  }

  TempDir home_;
  std::optional<Gateways> hosts_;
  std::optional<SshHost> ssh_;
};

class FirewallsThatUdpPasses : public Firewalls {};

TEST_P(FirewallsThatUdpPasses, CarryACommandByUdp) {
  const Ran ran = near("$RSH --require-udp far 'echo there; printenv UDTCAT_NEAR'");
  EXPECT_EQ(ran.output, "there\n") << ran.errors << " and the command does not see what was for the far end";
}

TEST_P(FirewallsThatUdpPasses, CarryFilesByUdp) {
  const Ran ran =
      near("head -c 3000000 /dev/urandom > f && $UDTCAT send --require-udp --ssh \"$SSH\" f far:d && cmp f $FAR/d/f");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
}

INSTANTIATE_TEST_SUITE_P(Of, FirewallsThatUdpPasses,
                         testing::Values(Hosts{Gateway::open, Gateway::open}, Hosts{Gateway::stateful, Gateway::open},
                                         Hosts{Gateway::masquerading, Gateway::open},
                                         Hosts{Gateway::random, Gateway::open}, Hosts{Gateway::open, Gateway::stateful},
                                         Hosts{Gateway::stateful, Gateway::stateful},
                                         Hosts{Gateway::masquerading, Gateway::stateful}),
                         [](const auto& its) { return name_of(its.param.near) + "To" + name_of(its.param.far); });

class FirewallsThatUdpDoesNotPass : public Firewalls {};

TEST_P(FirewallsThatUdpDoesNotPass, HaveSshCarryTheCommandAndSayWhatWasTried) {
  const Ran ran = near("$RSH far 'echo there'");
  EXPECT_EQ(ran.output, "there\n") << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("10.72.0.2:"));
}

INSTANTIATE_TEST_SUITE_P(Of, FirewallsThatUdpDoesNotPass,
                         testing::Values(Hosts{Gateway::random, Gateway::stateful},
                                         Hosts{Gateway::without_udp, Gateway::open},
                                         Hosts{Gateway::open, Gateway::without_udp}),
                         [](const auto& its) { return name_of(its.param.near) + "To" + name_of(its.param.far); });

}  // namespace
}  // namespace udtcat::test::e2e
