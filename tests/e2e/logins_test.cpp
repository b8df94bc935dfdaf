// SPDX-License-Identifier: Apache-2.0
/// src/ssh/ssh_dial.cpp: logins that are no shell, and what ssh does while a command runs. Real sshd, with each
/// login's command forced.
#include <algorithm>

#include <gmock/gmock.h>

#include "e2e/support/rsh_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LoginsTest : public RshTest {
 protected:
  /// Another sshd of the far host, whose login runs `command` whatever it is asked for.
  void force(const std::string& command) {
    const std::string config = (ssh_->ssh_config().parent_path() / "sshd_config").string();
    server_.emplace(Command{.argv = {"/usr/sbin/sshd", "-D", "-e", "-f", config, "-p", std::to_string(port_), "-o",
                                     "ForceCommand=" + command},
                            .network_namespace = hosts_->far_host().file});
    ASSERT_TRUE(eventually(patience(30s), [&] { return server_->errors().find("listening on") != std::string::npos; }));
  }
  /// A script of the near host's, in which $P names that login's port to ssh.
  [[nodiscard]] Ran there(const std::string& script, std::chrono::milliseconds limit = 60s) const {
    return near("P='-p " + std::to_string(port_) + "'; " + script, limit);
  }
  [[nodiscard]] static std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  std::optional<Process> server_;
};

constexpr const char* kOverSsh = "its login runs no command of ours";

/// Proves: rsh.query-time
TEST_F(LoginsTest, AreUsedWithoutWhatSshDoesNotSayInTimeOfItself) {
  const Ran ran = near(
      "mkdir bin; printf '#!/bin/sh\ncase \" $* \" in *\" -G \"*) exec sleep 600;; esac\nexec /usr/bin/ssh \"$@\"\n' > "
      "bin/ssh; chmod +x bin/ssh; $UDTCAT rsh --ssh \"$PWD/bin/ssh -F $CONFIG\" far 'echo hi'",
      20s);
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(ran.output, "hi\n");
}

TEST_F(LoginsTest, ThatServeFilesAloneAreUsedBySftp) {
  force("internal-sftp");
  const Ran ran = there("echo 'put ssh-file /dev/null' > batch; echo x > ssh-file; $UDR sftp -F $CONFIG -P " +
                        std::to_string(port_) + " -b batch far");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr(kOverSsh));
}

TEST_F(LoginsTest, ThatServeRepositoriesAloneAreUsedByGitWithoutAWordOfOurScript) {
  force("git-shell -c \"$SSH_ORIGINAL_COMMAND\"");
  const Ran ran =
      there("git init -q --bare $PWD/g.git; GIT_SSH_COMMAND=\"ssh -F $CONFIG $P\" $UDR git ls-remote far:$PWD/g.git");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr(kOverSsh));
  EXPECT_EQ(lines_of(ran.errors), 1U) << ran.errors;
}

TEST_F(LoginsTest, ThatRunOneCommandGetTheInputOnce) {
  force("cat >> " + (ssh_->far_home().path() / "forced").string());
  const auto begin = Clock::now();
  const Ran ran = there("seq 3 | $RSH $P far x");
  EXPECT_LT(Clock::now() - begin, patience(20s));
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(lines_of(ran.errors), 1U) << ran.errors;
  EXPECT_EQ(there("cat $FAR/forced").output, "1\n2\n3\n");
}

TEST_F(LoginsTest, ThatEndGiveSshsStatusAndWords) {
  for (const char* login : {"echo out; echo err >&2; exit 4", "exec 2>&1; echo refused; exit 255"}) {
    force(login);
    const Ran ours = there("$RSH -q $P far x");
    const Ran over_ssh = there("ssh -F $CONFIG $P far x");
    EXPECT_EQ(ours.status, over_ssh.status) << login;
    EXPECT_EQ(ours.output, over_ssh.output) << login;
    EXPECT_EQ(ours.errors, over_ssh.errors) << login;
  }
}

TEST_F(LoginsTest, OfARestrictedShellRunItsCommandOnce) {
  force("rbash -c \"$SSH_ORIGINAL_COMMAND\"");
  const Ran ran = there("$RSH $P far 'echo once; exit 4'");
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.output, "once\n");
  EXPECT_THAT(ran.errors, Not(HasSubstr("restricted"))) << "of our script";
}

TEST_F(LoginsTest, AreKnownForAnHour) {
  force("cat");
  const std::string command = "echo in | $RSH $P far x";
  ASSERT_EQ(there(command).output, "in\n");
  const auto begin = Clock::now();
  const Ran again = there(command);
  EXPECT_LT(Clock::now() - begin, patience(4s));
  EXPECT_EQ(again.output, "in\n");
  EXPECT_THAT(again.errors, HasSubstr("its login ran no command of ours within the last hour"));
  EXPECT_THAT(again.errors, HasSubstr("--require-udp tries UDP again"));
}

TEST_F(LoginsTest, ThatAreNoShellAreRefusedWhereOnlyUdpWillDo) {
  force("exit 3");
  const Ran ran = there("$RSH --require-udp $P far x");
  EXPECT_EQ(ran.status, kOwnFailure);
  EXPECT_THAT(ran.errors, HasSubstr("UDP needs a login that is a shell"));
}

TEST_F(LoginsTest, ThatAreNoShellTakeNoTreeAndNoBenchAndSaySo) {
  force("exit 3");
  for (const char* transfer : {"send tree far:dst", "receive far:tree", "receive --push far:tree"}) {
    const Ran ran = there(std::string("mkdir -p tree; $UDTCAT ") + transfer + " --ssh \"ssh -F $CONFIG $P\"");
    EXPECT_NE(ran.status, 0);
    EXPECT_THAT(ran.errors, AllOf(HasSubstr(kOverSsh), HasSubstr("need a login with a shell, or one that runs udtcat"),
                                  HasSubstr("for sftp alone there are udr scp and udr sftp")));
  }
  const Ran bench = there("$UDTCAT bench far --ssh \"ssh -F $CONFIG $P\"");
  EXPECT_NE(bench.status, 0);
  EXPECT_THAT(bench.errors, HasSubstr(kOverSsh));
}

TEST_F(LoginsTest, ThatPrintForAWhileAreWaitedFor) {
  force("for i in 1 2 3 4; do echo rc $i; sleep 0.5; done; exec bash -c \"$SSH_ORIGINAL_COMMAND\"");
  const Ran ran = there("$RSH --require-udp $P far 'echo hi'");
  EXPECT_EQ(ran.output, "hi\n") << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("rc 4"));
}

// ---- ssh while the command runs ------------------------------------------------------------------------------------

TEST_F(RshTest, EndsWithItsCommandThoughSshsConnectionIsDead) {
  const Ran ran = near(R"(
exec 3>&1
FAR_COMMAND='echo > began; while test -e began; do sleep 0.1; done; exit 5'
{ $RSH --require-udp far "$FAR_COMMAND" 2>&1 < /dev/null; echo rc $? >&3; } | cat &
until test -e $FAR/began; do sleep 0.1; done
PORT=$(awk '/Port/ { print $2; exit }' $CONFIG)
nft add table inet n; nft 'add chain inet n i { type filter hook input priority 0; }'
nft add rule inet n i tcp sport $PORT drop
nft 'add chain inet n o { type filter hook output priority 0; }'; nft add rule inet n o tcp dport $PORT drop
rm $FAR/began; wait
)");
  EXPECT_THAT(ran.output, HasSubstr("rc 5\n")) << "and the reader of its stderr has seen the end: " << ran.errors;
}

TEST_F(RshTest, LeavesNoSshBehindWhenItIsKilled) {
  Process process = rsh({"far", "echo $$ > pid; exec sleep 600"});
  const pid_t far = far_process("pid");
  const Ran children = run({.argv = {"ps", "-o", "pid=", "--ppid", std::to_string(process.pid())}});
  const pid_t ssh = std::stoi(children.output);
  process.send_signal(SIGKILL);
  EXPECT_TRUE(eventually(patience(5s), [&] { return gone(ssh); }));
  EXPECT_TRUE(eventually(patience(20s), [&] { return gone(far); }));
}

// ---- Ways to the host, and clients ---------------------------------------------------------------------------------

TEST_F(RshTest, RemembersForAnHourThatUdpIsBlocked) {
  block_all_but_ssh();
  EXPECT_THAT(near("$RSH far true").errors,
              AllOf(HasSubstr("no way to far by UDP"), HasSubstr("for an hour commands go over ssh at once"),
                    HasSubstr("--require-udp tries UDP again")));
  const auto begin = Clock::now();
  const Ran again = near("echo in | $RSH far 'cat; exit 3'");
  EXPECT_LT(Clock::now() - begin, patience(2500ms)) << "without UDP's 3 s";
  EXPECT_EQ(again.status, 3);
  EXPECT_EQ(again.output, "in\n");
  EXPECT_THAT(again.errors, HasSubstr("UDP did not get through within the last hour"));
  EXPECT_THAT(near("$RSH --require-udp far true").errors, HasSubstr("no way to far by UDP")) << "it is tried when told";
  EXPECT_THAT(near("ip address add 203.0.113.7/24 dev lo; $RSH far true").errors, HasSubstr("no way to far by UDP"))
      << "and in another network";
}

TEST_F(RshTest, ForgetsThatUdpWasBlockedWhereItWorks) {
  block_all_but_ssh();
  std::ignore = near("$RSH far true");
  EXPECT_EQ(run({.argv = {"nft", "flush", "ruleset"}, .network_namespace = hosts_->far_host().file}).status, 0);
  EXPECT_EQ(near("$RSH --require-udp far true").status, 0);
  EXPECT_EQ(near("$RSH far true").errors, "");
}

TEST_F(RshTest, FindsByUdpTheHostOfASharedConnection) {
  // The server sees an address that is not ours to dial.
  const Ran hidden = run({.argv = {"bash", "-c",
                                   "ip addr add 10.88.0.1/32 dev lo; nft add table ip n; nft 'add chain ip n p { type "
                                   "nat hook prerouting priority -100; }'; nft add rule ip n p ip daddr " +
                                       hosts_->far_host().ipv4 + " tcp dport 1-65535 dnat to 10.88.0.1"},
                          .network_namespace = hosts_->far_host().file});
  ASSERT_EQ(hidden.status, 0) << hidden.errors;
  const Ran ran = near(R"(
M="-o ControlMaster=auto -o ControlPersist=yes -o ControlPath=$PWD/cm"
for i in 1 2; do $RSH --require-udp $M far "echo $i"; done; ssh -F $CONFIG $M -O exit far 2>/dev/null
)");
  EXPECT_EQ(ran.output, "1\n2\n") << ran.errors;
}

TEST_F(RshTest, ReachesALinkLocalAddress) {
  const Ran ran = near(R"(
FE=$(ip netns exec )" + hosts_->far_host().name +
                       R"( ip -6 -o addr show dev veth scope link | awk '{ sub("/.*", "", $4); print $4 }')
$RSH --require-udp -o HostName=$FE%%veth far 'echo by link'
)");
  EXPECT_EQ(ran.output, "by link\n") << ran.errors;
}

TEST_F(RshTest, WorksWithAnSshThatKnowsNoRemoteCommand) {
  home_.write("ssh",
              "#!/bin/sh\ncase \"$*\" in *RemoteCommand*) echo Bad configuration option >&2; exit 255;; esac\n"
              "exec /usr/bin/ssh \"$@\"\n",
              0700);
  const Ran ran = near("PATH=$PWD:$PATH; $RSH --require-udp far 'echo hi'");
  EXPECT_EQ(ran.output, "hi\n") << ran.errors;
}

TEST_F(RshTest, WorksWithAnSshThatDoesNotSayWhatItWouldDo) {
  home_.write("ssh",
              "#!/bin/sh\ncase \" $* \" in *\" -G \"*) echo unknown option >&2; exit 255;; esac\n"
              "exec /usr/bin/ssh \"$@\"\n",
              0700);
  const Ran ran = near("PATH=$PWD:$PATH; $RSH --require-udp far 'echo hi'");
  EXPECT_EQ(ran.output, "hi\n") << ran.errors;
  EXPECT_EQ(ran.errors, "");
}

TEST_F(RshTest, NeedsNoPlaceForFilesUnderScpAndSftp) {
  const Ran ran = near(R"(
set -e
mkdir 'a dir'; ln -s $UDTCAT 'a dir/udtcat'; export TMPDIR=/no/such/directory; unset HOME
head -c 100000 /dev/urandom > file
UDTCAT="$PWD/a dir/udtcat" $UDR --require-udp scp -q -F $CONFIG file far:d; cmp file $FAR/d
UDTCAT="$PWD/a dir/udtcat" $UDR --require-udp scp -q -O -F $CONFIG file far:e; cmp file $FAR/e
echo 'get d f' | $UDR --require-udp sftp -q -F $CONFIG -b - far > /dev/null; cmp file f; echo done
)");
  EXPECT_EQ(ran.output, "done\n") << ran.errors;
}

}  // namespace
}  // namespace udtcat::test::e2e
