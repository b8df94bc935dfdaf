// SPDX-License-Identifier: Apache-2.0
/// A command on another host: ssh's login, our transport. Real sshd in a namespace of its own.
#include <csignal>
#include <regex>

#include <gmock/gmock.h>

#include "e2e/support/rsh_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// ---- What it gives back --------------------------------------------------------------------------------------------

TEST_F(RshTest, GivesTheStatusOfTheCommand) {
  EXPECT_EQ(near("$RSH far 'exit 7'").status, 7);
  EXPECT_EQ(near("$RSH far true").status, 0);
  const Ran killed = near("$RSH far 'kill -TERM $$'");
  EXPECT_EQ(killed.status, kOwnFailure) << "as ssh does";
  EXPECT_THAT(killed.errors, HasSubstr("ended by SIGTERM"));
  EXPECT_EQ(near("$RSH far no-such-command").status, 127);
}

TEST_F(RshTest, KeepsOutputAndErrorsApartAndAddsNothing) {
  const Ran ran = near("$RSH far 'echo out; echo err >&2'");
  EXPECT_EQ(ran.output, "out\n");
  EXPECT_EQ(ran.errors, "err\n");
}

TEST_F(RshTest, CarriesInputAndItsEnd) {
  const Ran ran = near(
      "head -c 50000000 /dev/urandom > big; $RSH far 'cat > copy; echo end' < big; $RSH far 'cat copy' | cmp - big && "
      "echo same; "
      "yes | $RSH far 'head -1'; $RSH -n far cat");
  EXPECT_EQ(ran.output, "end\nsame\ny\n") << ran.errors;
  EXPECT_EQ(ran.errors, "");
}

TEST_F(RshTest, EndsTheCommandWhoseConsumerHasLeft) {
  const Ran ran = near("$RSH far 'echo $$ > pid; yes' | head -1");
  EXPECT_EQ(ran.output, "y\n");
  EXPECT_EQ(ran.errors, "") << "as ssh, and every other program";
  EXPECT_TRUE(eventually(patience(10s), [pid = far_process("pid")] { return gone(pid); }));
}

TEST_F(RshTest, GivesTheStatusOfTheCommandWhoseReadersHaveLeft) {
  const char* const ways[] = {"'echo 1; sleep 1; echo 2 2>/dev/null; exit 5' | true",
                              "'echo x >&2; sleep 1; exit 5' 2>&1 >/dev/null | true", "'exit 5' >&-", "'exit 5' 2>&-",
                              "'echo err >&2; exit 5' 2>/dev/full"};
  for (const char* const way : ways) {
    const Ran ours = near("$RSH far " + std::string(way) + "; exit ${PIPESTATUS[0]}");
    const Ran over_ssh = near("ssh -F $CONFIG far " + std::string(way) + "; exit ${PIPESTATUS[0]}");
    EXPECT_EQ(ours.status, over_ssh.status) << way;
    EXPECT_EQ(ours.errors, over_ssh.errors) << way;
  }
}

TEST_F(RshTest, FailsWhereErrorsOfTheCommandAreLost) {
  const Ran ran = near(
      "$RSH far 'echo $PPID > pid; while sleep 0.05; do echo x; done >&2 & echo > done' 2> errors & "
      "rsh=$!; until [ -e $FAR/done ]; do sleep 0.01; done; $RSH far true; kill -9 $(cat $FAR/pid); wait $rsh; "
      "echo $?");
  EXPECT_EQ(ran.output, std::to_string(kOwnFailure) + "\n") << ran.errors;
}

TEST_F(RshTest, FailsWhereItsOutputCannotBeWritten) {
  for (const char* const way : {"'echo lost' >&-", "'echo lost' >/dev/full"}) {
    const Ran ran = near("$RSH far " + std::string(way));
    EXPECT_EQ(ran.status, kOwnFailure) << way;
    EXPECT_THAT(ran.errors, HasSubstr("stdout")) << way;
  }
}

TEST_F(RshTest, TellsTheFarSidesLinesFromItsOwn) {
  const Ran ran = near("$RSH --verbose --require-udp far true");
  EXPECT_THAT(ran.errors, testing::ContainsRegex("(^|\n)udtcat: connected to "));
  EXPECT_THAT(ran.errors, testing::ContainsRegex("(^|\n)udtcat \\([^)]+\\): [^\n]* has proved the key"));
}

TEST_F(RshTest, IsSilentAboutNothingThatSshWouldSay) {
  const Ran ran = near("$RSH -o User=nobody-of-that-name far true");
  EXPECT_EQ(ran.status, kOwnFailure);
  EXPECT_THAT(ran.errors, HasSubstr("Permission denied"));
}

TEST_F(RshTest, DoesNotWaitForWhoReadsItsOutputLater) {
  // As callers do that wait for the end, then read.
  const Ran ran = near("mkfifo pipe; exec 3<>pipe; timeout 20 $RSH far 'echo out' > pipe; echo status $?; head -1 <&3");
  EXPECT_EQ(ran.output, "status 0\nout\n") << ran.errors;
}

TEST_F(RshTest, GivesTheCommandTheSettingsThatSshGivesIt) {
  const std::string ask = "'umask; grep -E \"SigIgn|SigBlk\" /proc/self/status; ulimit -c; ls /proc/self/fd | wc -l'";
  const Ran over_ssh = near("ssh -F $CONFIG far " + ask);
  for (const char* how : {"$RSH far ", "$RSH --push --remote-udtcat /no/such/udtcat far "})
    EXPECT_EQ(near(how + ask).output, over_ssh.output) << how;
}

TEST_F(RshTest, LeavesAloneWhomTheCommandLeftBehindWithoutItsInput) {
  const Ran ran =
      near("$RSH --require-udp far 'echo $PPID > far-end; sleep 60 < /dev/null > /dev/null 2>&1 & echo $! > daemon'");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  const pid_t far_end = far_process("far-end");
  const pid_t daemon = far_process("daemon");
  EXPECT_TRUE(eventually(patience(20s), [&] { return gone(far_end); }));
  EXPECT_FALSE(gone(daemon));
  ::kill(daemon, SIGKILL);
}

// ---- Ways to the host ----------------------------------------------------------------------------------------------

TEST_F(RshTest, GoesWhereSshGoes) {
  for (const char* host : {"far", "far6", "inner"}) {
    const Ran ran = near(std::string("$RSH --require-udp ") + host + " 'echo $SSH_CONNECTION'");
    EXPECT_EQ(ran.status, 0) << host << ": " << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr(std::string(host) == "far" ? hosts_->far_host().ipv4 : hosts_->far_host().ipv6));
  }
}

TEST_F(RshTest, PassesNoiseOnAndIsNotConfusedByIt) {
  ssh_->far_home().write(".bashrc",
                         "echo noise from .bashrc; echo 'UDTCAT CONNECT me if you can'; printf unfinished\n");
  const Ran ran = near("$RSH -o LogLevel=INFO far 'echo hi'");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.output, "hi\n") << "what a program reads is the command's alone";
  for (const char* noise : {"This is a banner.", "noise from .bashrc", "UDTCAT CONNECT me", "unfinished"})
    EXPECT_THAT(ran.errors, HasSubstr(noise));
}

TEST_F(RshTest, LeavesToSshWhatIsNoCommand) {
  EXPECT_THAT(near("$RSH -V").errors, StartsWith("OpenSSH"));
  EXPECT_THAT(near("$RSH -G far").output, HasSubstr("hostname " + hosts_->far_host().ipv4));
  EXPECT_THAT(near("echo 'echo a login shell' | $RSH far").output, HasSubstr("a login shell"));
}

TEST_F(RshTest, GoesOnOverSshWhereUdpIsBlocked) {
  block_all_but_ssh();
  const auto begin = Clock::now();
  const Ran ran = near("seq 5 | $RSH far 'cat; echo err >&2; exit 9'");
  EXPECT_LT(Clock::now() - begin, kAtOnce) << "it tries UDP for 3 s";
  EXPECT_EQ(ran.status, 9);
  EXPECT_EQ(ran.output, "1\n2\n3\n4\n5\n");
  EXPECT_THAT(ran.errors, HasSubstr("going on over ssh itself"));
  EXPECT_THAT(ran.errors, HasSubstr("err\n"));
  EXPECT_EQ(near("head -c 5000000 /dev/urandom > big; $RSH -q far 'cat > copy' < big; cmp big $FAR/copy").status, 0);
}

TEST_F(RshTest, KnowsWhenItsOutputIsLostOverSshToo) {
  block_all_but_ssh();
  EXPECT_EQ(near("$RSH far 'echo precious' > /dev/full").status, kOwnFailure);
  const Ran left = near("$RSH -q far 'yes' | head -1");
  EXPECT_EQ(left.output, "y\n");
  EXPECT_EQ(left.errors, "");
}

TEST_F(RshTest, EndsWithItsReasonWhereItsInputCannotBeReadOverSshToo) {
  block_all_but_ssh();
  const Ran ran = near("$RSH -q far 'cat; echo done' < /");
  EXPECT_EQ(ran.status, kOwnFailure);
  EXPECT_THAT(ran.errors, HasSubstr("local read from stdin failed"));
}

TEST_F(RshTest, SaysWhichPortIsBlockedWhereOnlyUdpWillDo) {
  block_all_but_ssh();
  const Ran ran = near("$RSH --require-udp --port 9123 far 'touch ran'");
  EXPECT_EQ(ran.status, kOwnFailure);
  EXPECT_THAT(ran.errors, HasSubstr("let UDP port 9123 through to the far side"));
  EXPECT_FALSE(std::filesystem::exists(ssh_->far_home().path() / "ran"));
}

TEST_F(RshTest, DoesNotTakeAFarEndThatIsGoneForBlockedUdp) {
  const Ran ran = near(
      "nft add table inet f; nft 'add chain inet f i { type filter hook input priority 0; }'; "
      "nft add rule inet f i meta l4proto icmp drop; "
      "printf '#!/bin/sh\\nprintf \"\\\\nUDTCAT CONNECT 1 9001 $(" UDTCAT_BINARY
      " keygen) 10.77.0.2\\\\n\"\\n' > gone; chmod +x gone; "
      "$RSH --remote-udtcat $PWD/gone far true; $RSH far 'echo $SSH_CONNECTION'");
  EXPECT_THAT(ran.errors, HasSubstr("no way to far by UDP"));
  EXPECT_THAT(ran.errors, Not(HasSubstr("within the last hour")));
}

TEST_F(RshTest, RunsManyCommandsAtATimeOnTheirRangeOfPorts) {
  const Ran ran = near(
      "for i in 1 2 3 4 5 6; do head -c 3000000 /dev/urandom > in$i;"
      " $RSH --require-udp --port 9123-9128 far \"cat > out$i; sleep 1; cat out$i\" < in$i > back$i & done; wait;"
      " for i in 1 2 3 4 5 6; do cmp in$i back$i && cmp in$i $FAR/out$i || exit 1; done");
  EXPECT_EQ(ran.status, 0) << ran.errors;
}

TEST_F(RshTest, GoesOnOverSshWhereNoPortIsFree) {
  const Process taker = udtcat({"-l", "9123", "-v"}, {.key = key_, .network_namespace = hosts_->far_host().file});
  ASSERT_TRUE(eventually(patience(10s), [&] { return taker.errors().find("listening") != std::string::npos; }));
  const Ran ran = near("$RSH --port 9123 far 'echo hi'");
  EXPECT_EQ(ran.output, "hi\n");
  EXPECT_THAT(ran.errors, HasSubstr("UDP port 9123 at far: none is free: going on over ssh itself"));
}

TEST_F(RshTest, UsesTcpWhereItIsTold) {
  const Ran ran = near("$RSH --verbose --transport tcp far 'echo hi; seq 100000 | tail -1'");
  EXPECT_EQ(ran.output, "hi\n100000\n") << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("trying tcp"));
  EXPECT_THAT(ran.errors, HasSubstr("connected to"));
}

TEST_F(RshTest, UsesLibudtWhereItIsTold) {
  const Ran ran = near("$RSH --verbose --require-udp --transport libudt far 'echo hi'");
  EXPECT_EQ(ran.output, "hi\n") << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("connected to"));
}

// ---- The far program -----------------------------------------------------------------------------------------------

TEST_F(RshTest, GoesOnOverSshWhereThereIsNoUdtcatAndNamesTheCure) {
  const Ran ran = near("seq 5 | $RSH --remote-udtcat /no/such/udtcat far 'cat; echo err >&2; exit 9'");
  EXPECT_EQ(ran.status, 9);
  EXPECT_EQ(ran.output, "1\n2\n3\n4\n5\n");
  EXPECT_THAT(ran.errors, testing::MatchesRegex(
                              "udtcat: far \\(/no/such/udtcat\\): no udtcat there \\(Linux [^)]*\\): going on over ssh "
                              "itself; [^\n]*--push[^\n]*--remote-udtcat[^\n]*\nerr\n"));
}

TEST_F(RshTest, DoesOverSshWithoutUdtcatWhatSshDoes) {
  const Ran ran = near(R"(
set -e
export NO="--remote-udtcat /no/such/udtcat --quiet"
mkdir tree; head -c 3000000 /dev/urandom > tree/big; printf 'a\n\\ $x' > "tree/an 'odd' name"
RSYNC_RSH="$RSH $NO" rsync -a tree/ far:there/; diff -r tree $FAR/there
printf '#!/bin/sh\nexec %s %s "$@"\n' "$RSH" "$NO" > as-ssh; chmod +x as-ssh
scp -q -S $PWD/as-ssh tree/big far:by-sftp; cmp tree/big $FAR/by-sftp
yes | $RSH $NO far 'head -1'; $RSH $NO -n far cat
$RSH $NO far 'umask; pwd; echo $HOME; ulimit -c' > ours; ssh -F $CONFIG far 'umask; pwd; echo $HOME; ulimit -c' > theirs
cmp ours theirs
)");
  EXPECT_EQ(ran.output, "y\n") << ran.errors;
  EXPECT_EQ(ran.errors, "");
}

TEST_F(RshTest, FailsWithoutUdtcatWhereOnlyUdpWillDo) {
  const Ran ran = near("$RSH --require-udp --remote-udtcat /no/such/udtcat far 'touch ran'");
  EXPECT_EQ(ran.status, kOwnFailure);
  EXPECT_THAT(ran.errors, HasSubstr("far (/no/such/udtcat): no udtcat there"));
  EXPECT_THAT(ran.errors, HasSubstr("--push"));
  EXPECT_FALSE(std::filesystem::exists(ssh_->far_home().path() / "ran"));
}

TEST_F(RshTest, BringsItsOwnProgramAlongOnceWhenTold) {
  const std::string push = "$RSH --require-udp --push --remote-udtcat /no/such/udtcat far ";
  const Ran first = near(push + "'echo pushed'");
  EXPECT_EQ(first.output, "pushed\n") << first.errors;
  EXPECT_THAT(first.errors, testing::MatchesRegex("udtcat: far: no udtcat there [^\n]*: sending this one, [0-9.]+ MB,"
                                                  "[^\n]*~/.cache/udtcat[^\n]*\n"));
  const Ran again = near(push + "'echo again'");
  EXPECT_EQ(again.output, "again\n");
  EXPECT_EQ(again.errors, "") << "it is there";
  const Ran named = near("$RSH --require-udp --remote-udtcat /no/such/udtcat far 'echo named'");
  EXPECT_EQ(named.output, "") << "who names a program means no other";
  ssh_->far_home().write(".bashrc", "PATH=/usr/bin:/bin\n");
  const Ran plain = near("$RSH --require-udp far 'echo plain'");
  EXPECT_EQ(plain.output, "plain\n") << "also where nothing is to be pushed";
  EXPECT_EQ(plain.errors, "");
  EXPECT_EQ(near("find $FAR/.cache/udtcat -type f -name udtcat | wc -l").output, "1\n")
      << "verified, and kept for the next time";
  EXPECT_EQ(near("find $FAR/.cache/udtcat -perm /077 | wc -l").output, "0\n") << "for this user only";
  EXPECT_EQ(near("readelf -S $(find $FAR/.cache/udtcat -type f -name udtcat) | grep -c debug_").output, "0\n");
}

TEST_F(RshTest, ShowsHowMuchOfItsProgramIsThereWhereAPersonWatches) {
  const auto& home = ssh_->far_home();
  std::filesystem::create_directory(home / "slow");
  home.write("slow/gzip", "#!/bin/sh\nPATH=${PATH#*:} gzip -dc | { head -c 2000000; sleep 1.7; cat; }\n", 0700);
  home.write(".bashrc", "PATH=$HOME/slow:$PATH\n");
  const std::regex line(R"(udtcat: sending udtcat to far  \[ +\d+ %\] 2\.00 MB of [\d.]+ MB  )");
  const std::string at_terminal = "script -qec \"$RUN\" /dev/null";
  struct Watching {
    std::string how;
    std::string option;
    bool shown;
  };
  for (const Watching& each : {Watching{"sh -c \"$RUN\" 2>&1", "--progress", true}, Watching{at_terminal, "", true},
                               Watching{at_terminal, "--no-progress", false}}) {
    const Ran ran = near(
        "rm -rf $FAR/.cache; export RUN=\"stty cols 100 2>/dev/null; $RSH --require-udp --push "
        "--remote-udtcat /no/such/udtcat " +
        each.option + " far echo pushed\"; " + each.how);
    EXPECT_THAT(ran.output, HasSubstr("pushed")) << ran.errors;
    EXPECT_EQ(std::regex_search(ran.output, line), each.shown) << each.option << ran.output;
    EXPECT_THAT(ran.output, Not(HasSubstr("UDTCAT")));
  }
}

/// Proves: rsh.pushed-program-own
TEST_F(RshTest, SendsItsProgramAgainWhereWhatLiesThereWasChanged) {
  const std::string push = "$RSH --require-udp --push --remote-udtcat /no/such/udtcat far ";
  ASSERT_EQ(near(push + "true").status, 0);
  // By a rename, since the far end may still run.
  EXPECT_EQ(near("echo 'echo bad' > bad; chmod 700 bad; mv bad $(echo $FAR/.cache/udtcat/*/udtcat)").status, 0);
  const Ran ran = near(push + "'echo good'");
  EXPECT_EQ(ran.output, "good\n");
  EXPECT_THAT(ran.errors, HasSubstr("sending this one"));
}

TEST_F(RshTest, RunsNothingForAStrangerAndIsNotStoppedByHim) {
  Pipe input = make_pipe();
  const std::string port = std::to_string(port_);
  Process far = udtcat({"rsh-server", "--port=" + port}, {.in = std::move(input.reading)});
  // The first to come has the right handshake and the wrong key.
  for (int i = 0; i < 3; ++i) {
    Process stranger = udtcat({"127.0.0.1", port}, {.key = make_key()});
    expect_exit(stranger, kRefused);
  }
  EXPECT_TRUE(far.running());
  input.writing.close();
  expect_exit(far, kOwnFailure, patience(10s));
}

// ---- Ends ----------------------------------------------------------------------------------------------------------

TEST_F(RshTest, HandsASignalOn) {
  Process process = rsh({"far", "trap 'echo > interrupted; exit 3' INT; echo $$ > pid; while :; do sleep 0.05; done"});
  const pid_t far = far_process("pid");
  process.send_signal(SIGINT);
  expect_exit(process, kInterrupted, patience(2s));
  EXPECT_TRUE(eventually(patience(2s), [&] { return gone(far); }));
  EXPECT_TRUE(std::filesystem::exists(ssh_->far_home().path() / "interrupted"));
  EXPECT_EQ(process.errors(), "");
}

TEST_F(RshTest, EndsTheFarSideWithinTwoSecondsHoweverStubborn) {
  Process process = rsh({"far", "trap '' INT HUP TERM; echo $$ > pid; sleep 600"});
  const pid_t far = far_process("pid");
  process.send_signal(SIGINT);
  EXPECT_TRUE(eventually(patience(2s), [&] { return gone(far); }));
  expect_exit(process, kInterrupted, patience(2s));
}

TEST_F(RshTest, LeavesNothingBehindWhenItIsKilled) {
  Process process = rsh({"far", "echo $$ > pid; exec sleep 600"});
  const pid_t far = far_process("pid");
  process.send_signal(SIGKILL);
  EXPECT_TRUE(eventually(patience(20s), [&] { return gone(far); }));
}

TEST_F(RshTest, EndsInSilenceByTheSignalThatRsyncUses) {
  Process process = rsh({"far", "echo $$ > pid; exec sleep 600"});
  const pid_t far = far_process("pid");
  process.send_signal(SIGUSR1);
  expect_exit(process, kTerminated, patience(2s));
  EXPECT_TRUE(eventually(patience(2s), [&] { return gone(far); }));
  EXPECT_EQ(process.errors(), "");
}

TEST_F(RshTest, SaysThatTheFarSideIsGone) {
  Process process = rsh({"far", "echo $PPID > pid; sleep 600"});
  const pid_t far = far_process("pid");
  ASSERT_GT(far, 1);
  ASSERT_EQ(::kill(far, SIGKILL), 0);
  expect_exit(process, kOwnFailure, patience(20s));
  expect_says(process, "lost");
}

// ---- Programs on top -----------------------------------------------------------------------------------------------

TEST_F(RshTest, CarriesRsyncBothWays) {
  const Ran ran = near(R"(
set -e
mkdir -p tree/sub; for i in $(seq 500); do echo $i > tree/sub/$i; done; head -c 3000000 /dev/urandom > tree/big
truncate -s 5M tree/sparse; ln tree/big tree/hard; ln -s big tree/soft; chmod 600 tree/sub/7
export RSYNC_RSH="$RSH --require-udp"
rsync -aHS --delete tree/ far:there/
rsync -aHSz far:there/ back/
rsync -aHc --dry-run --itemize-changes tree/ back/
diff -r tree back && echo same
rm tree/sub/1; rsync -a --delete tree/ far:there/; ls $FAR/there/sub/1 2>&1 | grep -c 'No such'
)");
  EXPECT_EQ(ran.output, "same\n1\n") << ran.errors;
  EXPECT_EQ(ran.errors, "") << "no noise that rsync over ssh has not";
}

TEST_F(RshTest, LetsRsyncTellItsStatus) {
  for (const char* how : {"far:missing/ here/", "here-missing/ far:x/"}) {
    const Ran over_ssh = near(std::string("rsync -a -e \"ssh -F $CONFIG\" ") + how);
    const Ran over_us = near(std::string("rsync -a -e \"$RSH\" ") + how);
    EXPECT_EQ(over_us.status, 23);
    EXPECT_EQ(over_ssh.status, 23);
  }
}

TEST_F(RshTest, CarriesScpSftpAndGit) {
  const Ran ran = near(R"(
set -e
head -c 2000000 /dev/urandom > big
printf '#!/bin/sh\nexec %s "$@"\n' "$RSH --require-udp" > as-ssh; chmod +x as-ssh
scp -q -S $PWD/as-ssh big far:by-sftp; cmp big $FAR/by-sftp
scp -q -O -S $PWD/as-ssh big far:by-scp; cmp big $FAR/by-scp
scp -q -O -S $PWD/as-ssh far:by-scp back; cmp big back
echo 'get by-sftp got' | sftp -q -S $PWD/as-ssh -b - far > /dev/null; cmp big got
export GIT_SSH_COMMAND="$RSH --require-udp"
git init -q --bare $FAR/repository; git clone -q far:repository work 2> /dev/null
cd work; git config user.email a@b; git config user.name a; cp ../big .; git add big; git commit -qm one
git push -q origin HEAD:main
cd ..; git clone -q -b main far:repository again; cmp big again/big; echo done
)");
  EXPECT_EQ(ran.output, "done\n") << ran.errors;
}

TEST_F(RshTest, CarriesBorg) {
  const Ran ran = near(R"(
set -e
export BORG_RSH="$RSH --require-udp" BORG_BASE_DIR=$PWD BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
mkdir tree; head -c 2000000 /dev/urandom > tree/big
borg init -e none far:borg; borg create far:borg::one tree; mkdir out; cd out
borg extract far:borg::one; cmp tree/big ../tree/big && echo same
)");
  EXPECT_EQ(ran.output, "same\n") << ran.errors;
}

// ---- The prefix ----------------------------------------------------------------------------------------------------

TEST_F(RshTest, IsPutUnderProgramsByUdr) {
  const Ran ran = near(R"(
set -e
mkdir tree; head -c 1000000 /dev/urandom > tree/big
$UDR --require-udp rsync -ae "ssh -F $CONFIG" tree/ far:a/; cmp tree/big $FAR/a/big
$UDR --require-udp rsync -a --rsh="ssh -F '$CONFIG'" --exclude=x -f 'P y' tree/ far:b/; cmp tree/big $FAR/b/big
RSYNC_RSH="ssh -F $CONFIG" $UDR rsync -rlt -B 700 tree/ far:c/; cmp tree/big $FAR/c/big
$UDR scp -q -F $CONFIG tree/big far:d; cmp tree/big $FAR/d
echo 'get d e' | $UDR sftp -q -F $CONFIG -b - far > /dev/null; cmp tree/big e
git init -q --bare $FAR/r; GIT_SSH_COMMAND="ssh -F $CONFIG" $UDR git ls-remote far:r
$UDR --ssh="ssh -F $CONFIG" tar c tree @far 'tar t'
$UDR ssh -F $CONFIG far 'exit 5' || echo status $?
)");
  EXPECT_EQ(ran.output, "tree/\ntree/big\nstatus 5\n") << ran.errors;
}

TEST_F(RshTest, TellsTheFarCommandNoEndOfAProgramThatFailed) {
  const Ran ran = near(R"(
pipe() { $UDR --ssh="ssh -F $CONFIG" "$@"; echo status $?; ls $FAR/whole 2> /dev/null; rm -f $FAR/whole; }
pipe sh -c 'echo part; exit 3' @far 'cat > part && mv part whole'
pipe sh -c 'echo all' @far 'cat > part && mv part whole'
pipe yes @far 'head -1 > whole'
)");
  EXPECT_EQ(ran.output, "status 3\nstatus 0\n" + (ssh_->far_home().path() / "whole\n").string() + "status 141\n" +
                            (ssh_->far_home().path() / "whole\n").string())
      << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("sh ended with 3: the command at far was ended, and not told that this was all"));
}

TEST_F(RshTest, IsNotMisledByWordsOfThePrograms) {
  const Ran ran = near(R"(
mkdir tree; echo x > tree/Foo::Bar; export RSYNC_RSH="ssh -F $CONFIG"
$UDR rsync -a tree/Foo::Bar far:f && cat $FAR/f
$UDR rsync -a --exclude '*::*' --exclude -e tree far:g && ls $FAR/g/tree | wc -l
git init -q r; cd r; $UDR git rev-parse '@{u}' 2>&1 | grep -c fatal
GIT_SSH_COMMAND=plink $UDR git status; echo status $?
BORG_RSH="ssh -o 'open" $UDR borg --version; echo status $?
)");
  EXPECT_EQ(ran.output, "x\n0\n1\nstatus 2\nstatus 2\n") << ran.errors;
}

TEST_F(RshTest, SaysByUdrWhatItDoesNotKnow) {
  const Ran unknown = near("$UDR cat file");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("does not know"));
  const Ran other = near("$UDR rsync -a -e 'rsh -l me' a far:b");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("is not ssh"));
  for (const char* const way : {"scp -S ssh a far:b", "scp -qrS ssh a far:b", "sftp -P 22 -Sssh far"}) {
    const Ran aside = near("$UDR " + std::string(way));
    EXPECT_EQ(aside.status, 2) << way;
    EXPECT_THAT(aside.errors, HasSubstr("names a remote shell")) << way;
  }
}

TEST_F(RshTest, IsPutByUdrUnderTheShellThatAProgramIsToldByItsOwnWays) {
  block_all_but_ssh();  // what goes over ssh after all is seen
  EXPECT_EQ(near("$UDR --require-udp borg --rsh \"ssh -F $CONFIG\" list ssh://far/none").status, 2);
  // Not what borg shows of ours: it leaves unread what its shell has said where it sees the end of the output first.
  EXPECT_THAT(near("$UDR --require-udp borg list --rsh=\"ssh -F $CONFIG -v -E ssh.log\" far:none; cat ssh.log").output,
              HasSubstr("rsh-server"));
  EXPECT_THAT(near("git init -q r; cd r; git config core.sshCommand \"ssh -F $CONFIG\"; $UDR --require-udp git "
                   "ls-remote far:none")
                  .errors,
              HasSubstr("let UDP port"));
}

}  // namespace
}  // namespace udtcat::test::e2e
