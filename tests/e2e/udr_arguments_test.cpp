// SPDX-License-Identifier: Apache-2.0
/// Words given to udr: none of a name becomes an option, and none is run where it was not meant.
#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

/// Programs that say what they were given, in place of those that udr is put under and of udtcat.
class UdrArguments : public UdtcatTest {
 protected:
  void SetUp() override {
    for (const char* name : {"udtcat", "rsync", "scp", "borg", "restic", "git"}) {
      home_.write(name, "#!/bin/sh\nprintf '<%s>' \"$@\"\n");
      std::filesystem::permissions(home_.path() / name, std::filesystem::perms::owner_all);
    }
  }
  [[nodiscard]] Ran udr(const std::string& words) const {
    return run(
        {.argv = {"bash", "-c", "PATH=$PWD:$PATH; UDTCAT=$PWD/udtcat " UDTCAT_SOURCE_DIR "/wrappers/udr " + words},
         .environment = {"HOME=" + home_.path().string()},
         .working_directory = home_.path()});
  }
  void expect_refused(const std::string& words, const std::string& why) const {
    const Ran ran = udr(words);
    EXPECT_EQ(ran.status, kUsage) << words;
    EXPECT_EQ(ran.output, "") << words << ": something was run";
    EXPECT_THAT(ran.errors, HasSubstr(why)) << words;
  }
};

TEST_F(UdrArguments, OfARepositoryBecomeNoOptionOfSsh) {
  expect_refused("restic -r 'sftp:x -oProxyCommand=touch:repo' snapshots", "not at an sftp host");
  expect_refused("restic --repo=sftp:-oProxyCommand=x:repo snapshots", "not at an sftp host");
  expect_refused("restic -r sftp://-oProxyCommand=x/repo snapshots", "is no host");
  expect_refused("restic -r \"sftp:a'b:repo\" snapshots", "not at an sftp host");
  expect_refused("restic -vr 'sftp:x -oProxyCommand=y:repo' snapshots", "not at an sftp host");
  EXPECT_EQ(run({.argv = {"bash", "-c",
                          "RESTIC_REPOSITORY='sftp:x -oA=b:r' PATH=$PWD:$PATH UDTCAT=$PWD/udtcat " UDTCAT_SOURCE_DIR
                          "/wrappers/udr restic snapshots"},
                 .working_directory = home_.path()})
                .status,
            kUsage);
}

TEST_F(UdrArguments, OfARepositoryNameItsHostBehindAllOptions) {
  EXPECT_THAT(udr("restic -r sftp:me@far:/repo ls").output, HasSubstr(" rsh -s -- me@far sftp>"));
  EXPECT_THAT(udr("restic -r sftp://me@far:2222//repo ls").output, HasSubstr(" rsh -p 2222 -s -- me@far sftp>"));
}

TEST_F(UdrArguments, ThatNameAHostBeginWithNoDash) {
  expect_refused("rsync -a me@-oProxyCommand=x:y z", "is no host");
  expect_refused("rsync -a -- -oProxyCommand=x:y z", "is no host");
  expect_refused("borg list ssh://-oProxyCommand=x/./repo", "is no host");
  expect_refused("borg list --repo=ssh://-oProxyCommand=x/./repo", "is no host");
  expect_refused("borg list 'ssh://{now:-oProxyCommand=x}/./repo'", "a form of the time");
  expect_refused("borg list '{utcnow:-oProxyCommand=x}:repo'", "a form of the time");
  expect_refused("git clone ssh://me@-oProxyCommand=x/repo", "is no host");
  expect_refused("tar c . @-oProxyCommand=x 'tar x'", "is no host");
}

TEST_F(UdrArguments, OfAProgramAreLeftAsTheyAre) {
  EXPECT_THAT(udr("borg create 'ssh://far/./repo::a-{now:%H:%M}' x").output,
              HasSubstr("<ssh://far/./repo::a-{now:%H:%M}>"));
  EXPECT_THAT(udr("rsync -a --exclude=a:b -f '- x@-y' ./-dash:x me@far:y").output,
              HasSubstr("<-a><--exclude=a:b><-f><- x@-y><./-dash:x><me@far:y>"));
}

TEST_F(UdrArguments, ThatSayNotWhatRunsWhereRunNothing) {
  expect_refused("@far 'echo ran: ' local-word", "udr PROGRAM ARGUMENTS... @far 'COMMAND'");
  expect_refused("@far 'echo ran'", "udr ssh far 'COMMAND'");
  expect_refused("echo x @far", "what is to run at far?");
  expect_refused("echo x @far ' '", "is empty");
  expect_refused("echo x @far tar x -C /data", "@far 'tar x -C /data'");
  const Ran missing = udr("no-such-program @far cat");
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(missing.output, "");
  EXPECT_EQ(udr("echo x @far 'cat -n'").output, "<rsh><--><far><cat -n>");
}

TEST_F(UdrArguments, OfItsOwnAreKnownWithTheirValues) {
  EXPECT_EQ(udr("--why --rate 5M ssh far true").output, "<rsh><--why><--rate><5M><far><true>");
  const Ran mistyped = udr("--whi rsync a far:b");
  EXPECT_EQ(mistyped.status, kUsage);
  EXPECT_EQ(mistyped.output, "<rsh><--whi>") << "which udtcat has an answer to";
}

TEST_F(UdrArguments, OfItsOwnBehindTheProgramAreSaidToStandBeforeIt) {
  const std::string push = "udr: --push is udr's: it stands before ";
  const Ran behind = udr("rsync -aq --push src far:dst");
  EXPECT_EQ(behind.errors, push + "rsync, as in udr --push rsync ...\n");
  EXPECT_THAT(behind.output, HasSubstr("<--push>")) << "rsync has the last word";
  EXPECT_THAT(udr("scp --push src far:").errors, HasSubstr(push + "scp"));
  EXPECT_THAT(udr("rsync --rate=5M src far:dst").errors, HasSubstr("--rate is udr's"));
  for (const char* const theirs : {"rsync --port 1 --progress --exclude --push src far:dst",
                                   "rsync src -- --push far:d", "--push rsync src far:dst"})
    EXPECT_EQ(udr(theirs).errors, "") << theirs;
}

TEST_F(UdrArguments, OfSshEndWithNoOptionThatLacksItsValue) {
  expect_refused("rsync -e 'ssh -4 -o' src far:dst", "lacks the value of its -o");
  expect_refused("borg --rsh 'ssh -vp' list far:r", "lacks the value of its -vp");
  EXPECT_THAT(udr("rsync -e 'ssh -oUser=e' src far:dst").output, HasSubstr("-oUser=e"));
}

TEST_F(UdrArguments, NameTheUserOfAPipelineBeforeItsHost) {
  EXPECT_EQ(udr("echo x @root@beta cat").output, "<rsh><--><root@beta><cat>");
}

TEST_F(UdrArguments, AreExplainedWithoutAnUdtcat) {
  home_.write("udr", read_file(UDTCAT_SOURCE_DIR "/wrappers/udr"), 0700);
  for (const char* option : {"--help", "-h"}) {
    const Ran help = run({.argv = {"bash", "-c", std::string("PATH=/usr/bin:/bin; ./udr ") + option},
                          .working_directory = home_.path()});
    EXPECT_EQ(help.status, 0) << help.errors;
    EXPECT_THAT(help.output, HasSubstr("udr PROGRAM ARGUMENTS..."));
  }
}

}  // namespace
}  // namespace udtcat::test::e2e
