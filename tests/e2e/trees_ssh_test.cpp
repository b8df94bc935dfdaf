// SPDX-License-Identifier: Apache-2.0
/// `udtcat send` and `receive` by ssh: real sshd in a namespace of its own, the other end started there.
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>

#include "e2e/support/rsh_test.hpp"
#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

class TreesBySsh : public RshTest {
 protected:
  void SetUp() override {
    RshTest::SetUp();
    if (IsSkipped()) return;
    make_tree_of_everything(home_ / "src");
    home_.write("ssh", "#!/bin/sh\nexec ssh -F \"$CONFIG\" \"$@\"\n", 0700);
  }
  /// A script of the near host's; $SEND and $RECEIVE are the commands with our ssh.
  [[nodiscard]] Ran trees(const std::string& script) const {
    const std::string words = "export XDG_CACHE_HOME=$PWD/cache; O=\"--ssh $PWD/ssh\"; S=\"$UDTCAT send $O\"; ";
    return near(words + "R=\"$UDTCAT receive $O\"; " + script);
  }
  [[nodiscard]] fs::path far(const std::string& name) const { return ssh_->far_home() / name; }
};

TEST_F(TreesBySsh, GoToTheFarHost) {
  const Ran ran = trees("$S --require-udp src far:there");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_EQ(ran.output + ran.errors, "");
  expect_same(home_ / "src", far("there/src"));
  EXPECT_FALSE(fs::exists(far("there/.udtcat-parts")));
}

TEST_F(TreesBySsh, GoToTheHomeWhereNoDirectoryIsNamed) {
  const Ran ran = trees("$S src/sizes far: && $S src/links far:~/x");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  expect_same(home_ / "src/sizes", far("sizes"));
  expect_same(home_ / "src/links", far("x/links"));
}

TEST_F(TreesBySsh, ComeFromTheFarHost) {
  fs::rename(home_ / "src", far("src"));
  const Ran ran = trees("$R --require-udp --into dst far:src && $R --into some far:src/links far:src/sizes/1");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  expect_same(far("src"), home_ / "dst/src");
  expect_same(far("src/links"), home_ / "some/links");
  EXPECT_TRUE(fs::exists(home_ / "some/1"));
}

TEST_F(TreesBySsh, ThatAreUnchangedAreNotSentAgain) {
  const Ran ran = trees("$S src far:there && $S --stats=json src far:there");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  const auto figures = nlohmann::json::parse(ran.errors, nullptr, false);
  ASSERT_TRUE(figures.is_object()) << ran.errors;
  EXPECT_LT(figures.value("bytes_sent", UINT64_MAX), 256 * kKiB) << figures;
}

TEST_F(TreesBySsh, GoOverSshItselfWhereUdpIsBlocked) {
  block_udp();
  const Ran ran = trees("$S src far:there");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("going on over ssh itself"));
  expect_same(home_ / "src", far("there/src"));
  const Ran back = trees("$R -q --into dst far:there/src");
  EXPECT_EQ(back.status, kSuccess) << back.errors;
  expect_same(home_ / "src", home_ / "dst/src");
  EXPECT_EQ(trees("$S --require-udp src far:elsewhere").status, kUnreachable);
  EXPECT_FALSE(fs::exists(far("elsewhere")));
}

TEST_F(TreesBySsh, NeedAUdtcatThereAndSaySo) {
  for (const char* command :
       {"$S --remote-udtcat /no/such/udtcat src far:there", "$R --remote-udtcat /no/such/udtcat --into dst far:src"}) {
    const Ran ran = trees(command);
    EXPECT_NE(ran.status, kSuccess);
    EXPECT_THAT(ran.errors, HasSubstr("no udtcat there"));
    EXPECT_THAT(ran.errors, HasSubstr("--push"));
  }
  EXPECT_FALSE(fs::exists(far("there")));
}

TEST_F(TreesBySsh, BringTheProgramAlongWhereTheyAreTold) {
  const Ran ran = trees("$S --push --remote-udtcat /no/such/udtcat src far:there");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  expect_same(home_ / "src", far("there/src"));
}

TEST_F(TreesBySsh, NameWhatIsNotThere) {
  const Ran ran = trees("$R --into dst far:no/such/thing; echo $?; $R --into dst nobody@far:src; echo $?");
  EXPECT_THAT(ran.output, testing::MatchesRegex("7\n3\n"));
  EXPECT_THAT(ran.errors, HasSubstr("no such file or directory"));
  EXPECT_THAT(ran.errors, HasSubstr("Permission denied"));
}

TEST_F(TreesBySsh, KeepAManifestAtTheNearEnd) {
  const Ran ran = trees("$S --manifest here src far:there && cd $FAR/there && $UDTCAT verify $OLDPWD/here");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("all as the manifest has it"));
}

/// By ssh, too, the same command goes on, and waits for the far end of the one that was killed.
TEST_F(TreesBySsh, GoOnAfterADeath) {
  constexpr std::uint64_t kBytes = scaled(64 * kMiB);
  fs::create_directory(home_ / "big");
  write_random(home_ / "big/file", 1, kBytes);
  const Ran ran = trees(
      "$S --rate 200M big far:there & for i in $(seq 400); do "
      "[ $(du -sk $FAR/there 2>/dev/null | cut -f1) -gt $((" +
      std::to_string(kBytes / 2 / kKiB) +
      ")) ] 2>/dev/null && break; sleep 0.05; done; "
      "kill -9 $!; wait $! 2>/dev/null; $S --stats=json big far:there");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  expect_same(home_ / "big", far("there/big"));
  EXPECT_FALSE(fs::exists(far("there/.udtcat-parts")));
  const auto at = ran.errors.rfind("{\"bytes_sent\":");
  ASSERT_NE(at, std::string::npos) << ran.errors;
  EXPECT_LE(std::stoull(ran.errors.substr(at + 14)), kBytes / 2 + 8 * kMiB);
}

}  // namespace
}  // namespace udtcat::test::e2e
