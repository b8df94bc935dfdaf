// SPDX-License-Identifier: Apache-2.0
/// src/ssh/connectivity_checks.hpp: hosts behind firewalls and address translation, by ssh. Real sshd, sessions by UDP
/// without a port that is open.
#include <cstdio>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"
#include "support/gateways.hpp"
#include "support/ssh_host.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Hosts {
  Gateway near;
  Gateway far;
};

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

/// The far end's ssh server sees the other host, and not the near end: nobody tells it the address that a translator
/// gives the near end.
TEST_P(FirewallsThatUdpPasses, CarryACommandByUdpWhereSshGoesByAnotherHost) {
  const auto relay = home_.write("relay", "#!/bin/bash\nexec 3<>\"/dev/tcp/$1/$2\"; cat <&3 & cat >&3\n", 0700);
  const std::string by_middle =
      "-o 'ProxyCommand=nsenter --net=" + hosts_->middle_host().file.string() + " " + relay.string() + " %h %p'";
  EXPECT_EQ(near("$SSH " + by_middle + " far 'echo ${SSH_CONNECTION%% *}'").output, hosts_->middle_host().ipv4 + "\n");
  const Ran ran = near("$RSH " + by_middle + " far 'echo there'");
  EXPECT_EQ(ran.output, "there\n") << ran.errors;
  const bool is_known = GetParam().near != Gateway::masquerading || GetParam().far == Gateway::open;
  EXPECT_EQ(ran.errors.find("over ssh itself") == std::string::npos, is_known) << ran.errors;
}

TEST_P(FirewallsThatUdpPasses, CarryCommandsByUdpThroughAMaster) {
  const std::string shared = "-o ControlMaster=auto -o ControlPersist=20 -o ControlPath=$PWD/master";
  const Ran ran = near("$SSH " + shared + " far true; for i in 1 2; do $RSH " + shared +
                       " --require-udp far 'echo there'; done; $SSH " + shared + " -O exit far");
  EXPECT_EQ(ran.output, "there\nthere\n") << ran.errors;
}

INSTANTIATE_TEST_SUITE_P(Of, FirewallsThatUdpPasses,
                         testing::Values(Hosts{Gateway::open, Gateway::open}, Hosts{Gateway::stateful, Gateway::open},
                                         Hosts{Gateway::masquerading, Gateway::open},
                                         Hosts{Gateway::random, Gateway::open}, Hosts{Gateway::open, Gateway::stateful},
                                         Hosts{Gateway::stateful, Gateway::stateful},
                                         Hosts{Gateway::masquerading, Gateway::stateful}),
                         [](const auto& its) { return name_of(its.param.near) + "To" + name_of(its.param.far); });

/// A table: by which way each pair of hosts is served, and how soon.
class AnyFirewalls : public Firewalls {};

TEST_P(AnyFirewalls, CarryACommandAndSayWhereItIsNotByUdp) {
  const auto began = Clock::now();
  ASSERT_EQ(near("$SSH far 'echo there'").output, "there\n");
  const auto ssh_ended = Clock::now();
  const Ran ran = near("$RSH far 'echo there'");
  const std::chrono::duration<double> ours = Clock::now() - ssh_ended;
  const std::chrono::duration<double> of_ssh = ssh_ended - began;
  EXPECT_EQ(ran.output, "there\n") << ran.errors;
  const bool by_tcp = ran.errors.find("TCP carries the session") != std::string::npos;
  const bool by_ssh = ran.errors.find("over ssh itself") != std::string::npos;
  std::printf("%s to %s: by %s, %.2f s; ssh %.2f s\n", name_of(GetParam().near).c_str(),
              name_of(GetParam().far).c_str(),
              by_ssh   ? "ssh"
              : by_tcp ? "TCP"
                       : "UDP",
              ours.count(), of_ssh.count());
  const bool has_udp = GetParam().near != Gateway::without_udp && GetParam().far != Gateway::without_udp;
  const bool passes = has_udp && (GetParam().far == Gateway::open || GetParam().near != Gateway::random);
  EXPECT_EQ(!by_tcp && !by_ssh, passes) << ran.errors;
}

std::vector<Hosts> any_firewalls() {
  std::vector<Hosts> all;
  for (const Gateway far : {Gateway::open, Gateway::stateful, Gateway::without_udp})
    for (const Gateway near :
         {Gateway::open, Gateway::stateful, Gateway::masquerading, Gateway::random, Gateway::without_udp})
      all.push_back({near, far});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, AnyFirewalls, testing::ValuesIn(any_firewalls()),
                         [](const auto& its) { return name_of(its.param.near) + "To" + name_of(its.param.far); });

class FirewallsThatUdpDoesNotPass : public Firewalls {};

TEST_P(FirewallsThatUdpDoesNotPass, HaveSshCarryTheCommandAndSayWhatWasTried) {
  const Ran ran = near("$RSH far 'echo there'");
  EXPECT_EQ(ran.output, "there\n") << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("10.72.0.2:"));
}

INSTANTIATE_TEST_SUITE_P(Of, FirewallsThatUdpDoesNotPass,
                         testing::Values(Hosts{Gateway::random, Gateway::stateful},
                                         Hosts{Gateway::only_ssh, Gateway::open},
                                         Hosts{Gateway::open, Gateway::only_ssh}),
                         [](const auto& its) { return name_of(its.param.near) + "To" + name_of(its.param.far); });

class FirewallsThatTcpPasses : public Firewalls {
 protected:
  /// A listener at the far host with a key in `k` at both.
  [[nodiscard]] Process listener(Arguments arguments) const {
    arguments.insert(arguments.begin(), UDTCAT_BINARY);
    arguments.insert(arguments.end(), {"-k", (home_.path() / "k").string(), "-v"});
    return Process({.argv = std::move(arguments),
                    .working_directory = ssh_->far_home().path(),
                    .network_namespace = hosts_->far_host().file});
  }
  void SetUp() override {
    Firewalls::SetUp();
    if (!hosts_) return;
    ASSERT_EQ(near("$UDTCAT keygen > k; chmod 600 k; head -c 3000000 /dev/urandom > f").status, kSuccess);
  }
  static bool is_up(const Process& process) {
    return eventually(patience(std::chrono::seconds(20)),
                      [&] { return process.errors().find("listening on") != std::string::npos; });
  }
};

constexpr const char* kByTcp = "no answer by UDP from 10.72.0.2: TCP carries the session";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_P(FirewallsThatTcpPasses, HaveTcpCarryAPipeWhichSaysSoOnce) {
  const Process far = listener({"-l", "9000"});
  ASSERT_TRUE(is_up(far));
  const Ran ran = near("$UDTCAT 10.72.0.2 9000 -k k --stats json < f");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_EQ(count(ran.errors, kByTcp), 1U) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("\"transport\":\"tcp\""));
  EXPECT_THAT(far.errors(), Not(HasSubstr("refused")));
}

TEST_P(FirewallsThatTcpPasses, HaveItCarryFiles) {
  const Process far = listener({"receive", "-l", "9000", "--into", "d"});
  ASSERT_TRUE(is_up(far));
  const Ran ran = near("$UDTCAT send f 10.72.0.2 9000 -k k -q && cmp f $FAR/d/f");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_EQ(ran.errors, "") << "quiet";
}

TEST_P(FirewallsThatTcpPasses, HaveItCarryForwardedConnections) {
  const Process web({.argv = {"python3", "-m", "http.server", "--bind", "127.0.0.1", "7777"},
                     .working_directory = home_.path(),
                     .network_namespace = hosts_->far_host().file});
  const Process far = listener({"-l", "9000", "--to", "127.0.0.1:7777"});
  ASSERT_TRUE(is_up(far));
  const Ran ran = near(
      "$UDTCAT 10.72.0.2:9000 --from 127.0.0.1:7000 -k k & own=$!; "
      "curl -s --retry 50 --retry-delay 1 --retry-all-errors http://127.0.0.1:7000/f | cmp - f && echo same; kill "
      "$own");
  EXPECT_EQ(ran.output, "same\n");
  EXPECT_EQ(count(ran.errors, kByTcp), 1U) << ran.errors;
}

TEST_P(FirewallsThatTcpPasses, HaveItCarryACommandByTheFarEndOfSsh) {
  const Ran ran = near("$RSH far 'echo there; exit 3'");
  EXPECT_EQ(ran.output, "there\n");
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(count(ran.errors, "no answer by UDP from far: TCP carries the session"), 1U) << ran.errors;
  EXPECT_THAT(ran.errors, Not(HasSubstr("over ssh")));
  EXPECT_THAT(near("$RSH --require-udp far true").errors, HasSubstr("no way to far by UDP within"));
}

TEST_P(FirewallsThatTcpPasses, AreInTheWayWhereTcpIsNotWanted) {
  const Process far = listener({"-l", "9000"});
  ASSERT_TRUE(is_up(far));
  const Ran without = near("$UDTCAT 10.72.0.2 9000 -k k --no-tcp --connect-timeout 1s < f");
  EXPECT_EQ(without.status, kUnreachable);
  EXPECT_THAT(without.errors,
              HasSubstr("nobody answered at UDP port 9000: nothing listens there, or a firewall drops"));
  const Ran elsewhere = near("$UDTCAT 10.72.0.2 9001 -k k --connect-timeout 1s < f");
  EXPECT_THAT(elsewhere.errors, HasSubstr("; by TCP: nobody listens on that TCP port"));
}

INSTANTIATE_TEST_SUITE_P(Of, FirewallsThatTcpPasses,
                         testing::Values(Hosts{Gateway::without_udp, Gateway::open},
                                         Hosts{Gateway::open, Gateway::without_udp}),
                         [](const auto& its) { return name_of(its.param.near) + "To" + name_of(its.param.far); });

}  // namespace
}  // namespace udtcat::test::e2e
