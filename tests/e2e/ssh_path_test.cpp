// SPDX-License-Identifier: Apache-2.0
/// src/ssh/ssh_path.hpp: a command whose UDP dies or crawls, while ssh's TCP does not. Real sshd in a namespace.
#include <gmock/gmock.h>

#include "e2e/support/rsh_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

class SshPathTest : public RshTest {
 protected:
  /// Drops UDP that comes to the far host beyond so much.
  void police_udp(const std::string& rate) const {
    const Ran policed = run(
        {.argv = {"bash", "-c",
                  "nft add table inet p; nft 'add chain inet p i { type filter hook input priority 0; }'; nft 'add "
                  "chain inet p o { type filter hook output priority 0; }'; for each in i o; do nft add rule inet p "
                  "$each meta l4proto udp limit rate over " +
                      rate + " burst 20 kbytes drop; done"},
         .network_namespace = hosts_->far_host().file});
    ASSERT_EQ(policed.status, 0) << policed.errors;
  }
};

constexpr const char* kBothWays =
    "head -c 6000000 /dev/urandom > big; $RSH far 'cat > copy' < big && $RSH far 'cat copy' < /dev/null | cmp - big && "
    "echo same";

TEST_F(SshPathTest, GoesOnOverSshWhereUdpIsPolicedBothWays) {
  police_udp("125 kbytes/second");
  const Ran ran = near(kBothWays, 40s);
  EXPECT_EQ(ran.output, "same\n");
  EXPECT_THAT(ran.errors, HasSubstr("going on over ssh's connection"));
  const Ran again = near("$RSH far 'echo $SSH_CONNECTION' | wc -l");
  EXPECT_THAT(again.errors, HasSubstr("within the last hour"));
}

/// ssh's pipe takes what is left at once, before a trial is over and before the other end has reported.
TEST_F(SshPathTest, RemembersUdpThatWasSlowForAnUploadThatEndsSoonAfter) {
  police_udp("125 kbytes/second");
  const Ran ran = near("head -c 3000000 /dev/urandom | $RSH far 'wc -c'; $RSH far true", 40s);
  EXPECT_EQ(ran.output, "3000000\n");
  EXPECT_THAT(ran.errors, HasSubstr("UDP was slower than ssh within the last hour"));
}

TEST_F(SshPathTest, GoesOnOverSshWhereUdpDiesInMidCommand) {
  const Ran ran = near(
      "mkfifo in; { $RSH far 'echo begun; cat; seq 1 200000; exit 7' < in; echo status $?; } | { exec 3> in; read "
      "line; "
      "nft add table inet f; nft 'add chain inet f i { type filter hook input priority 0; }'; "
      "nft add rule inet f i meta l4proto udp drop; echo input >&3; exec 3>&-; cat; }",
      40s);
  EXPECT_TRUE(ran.output.starts_with("input\n1\n2\n")) << ran.errors;
  EXPECT_TRUE(ran.output.ends_with("199999\n200000\nstatus 7\n"));
  EXPECT_THAT(ran.errors, HasSubstr("UDP has become silent: going on over ssh's connection"));
}

TEST_F(SshPathTest, HasANameForAFirewallThatRefuses) {
  const std::string refuse =
      "nft add table inet r; nft 'add chain inet r f { type filter hook HOOK priority 0; }'; "
      "nft add rule inet r f meta l4proto udp reject with icmpx admin-prohibited";
  const auto at = [&](std::string hook) { return std::string(refuse).replace(refuse.find("HOOK"), 4, hook); };
  const std::string dial =
      UDTCAT_BINARY " --protect clear --connect-timeout 4s " + hosts_->far_host().ipv4 + " 9000 </dev/null";
  ASSERT_EQ(run({.argv = {"bash", "-c", at("input")}, .network_namespace = hosts_->far_host().file}).status, 0);
  const Ran refused = near(dial);
  EXPECT_EQ(refused.status, kUnreachable);
  EXPECT_THAT(refused.errors, HasSubstr("no route to host; where TCP gets there, a firewall refuses UDP port 9000"));
  EXPECT_THAT(near(at("output") + "; " + dial).errors,
              HasSubstr("not permitted: a firewall of this host refuses UDP port 9000"));
}

TEST_F(SshPathTest, StaysWithUdpOnAPathThatIsFine) {
  const Ran ran = near(kBothWays);
  EXPECT_EQ(ran.output, "same\n");
  EXPECT_EQ(ran.errors, "");
}

}  // namespace
}  // namespace udtcat::test::e2e
