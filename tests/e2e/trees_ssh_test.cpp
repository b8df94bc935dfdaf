// SPDX-License-Identifier: Apache-2.0
/// Trees to and from an account on another host: ssh's login, real sshd, and what stands there is the same.
#include <csignal>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "e2e/support/rsh_test.hpp"
#include "e2e/support/trees_cut_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

class TreesBySsh : public RshTest {
 protected:
  void SetUp() override {
    RshTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(run({.argv = {"rsync", "--version"}}).status, 0) << "rsync, by which trees are compared, is not here";
    make_tree_of_everything(home_ / "src");
  }
  [[nodiscard]] Ran trees(const std::string& arguments) const {
    return near("$UDTCAT " + arguments + " --ssh \"ssh -F $CONFIG\"");
  }
  [[nodiscard]] fs::path far(const std::string& name) const { return ssh_->far_home() / name; }
  /// A sender of a new file, a quarter of which has come.
  [[nodiscard]] Process begin_sending(const std::string& name) const {
    constexpr std::uint64_t kBytes = scaled(64 * kMiB);
    write_random(home_ / name, 1, kBytes);
    Process sender({.argv = {UDTCAT_BINARY, "send", "--rate", "200M", "--ssh", "ssh -F " + ssh_->ssh_config().string(),
                             name, "far:dst"},
                    .environment = environment(),
                    .working_directory = home_.path(),
                    .network_namespace = hosts_->near_host().file});
    EXPECT_TRUE(eventually(kTransferLimit, [&] { return held_bytes(far("dst")) > kBytes / 4; })) << sender.errors();
    return sender;
  }
};

TEST_F(TreesBySsh, SendToADirectory) {
  const Ran sent = trees("send src far:dst");
  EXPECT_EQ(sent.status, kSuccess) << sent.errors;
  expect_same(home_ / "src", far("dst/src"));
  EXPECT_FALSE(fs::exists(far("dst/.udtcat-parts")));
  const Ran again = trees("send src far:dst");
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  expect_same(home_ / "src", far("dst/src"));
}

TEST_F(TreesBySsh, ReceiveFromAPath) {
  fs::rename(home_ / "src", far("src"));
  const Ran received = trees("receive far:src --into dst");
  EXPECT_EQ(received.status, kSuccess) << received.errors;
  expect_same(far("src"), home_ / "dst/src");
  EXPECT_FALSE(fs::exists(home_ / "dst/.udtcat-parts"));
}

TEST_F(TreesBySsh, SendToAHostWithoutUdtcat) {
  const Ran refused = trees("send src far:dst --remote-udtcat /no/such/udtcat");
  EXPECT_NE(refused.status, kSuccess) << "nobody is there to take it";
  EXPECT_THAT(refused.errors, HasSubstr("--push"));
  EXPECT_FALSE(fs::exists(far("dst/src")));
  const Ran pushed = trees("send src far:dst --push --remote-udtcat /no/such/udtcat");
  EXPECT_EQ(pushed.status, kSuccess) << pushed.errors;
  expect_same(home_ / "src", far("dst/src"));
}

TEST_F(TreesBySsh, UseSshItselfWhereUdpIsBlocked) {
  block_all_but_ssh();
  const Ran sent = trees("send src far:dst");
  EXPECT_EQ(sent.status, kSuccess) << sent.errors;
  EXPECT_THAT(sent.errors, HasSubstr("going on over ssh itself"));
  expect_same(home_ / "src", far("dst/src"));
  const Ran received = trees("receive far:dst/src --into back");
  EXPECT_EQ(received.status, kSuccess) << received.errors;
  expect_same(home_ / "src", home_ / "back/src");
}

TEST_F(TreesBySsh, ReportAMissingRemotePathAndReceiveTheRest) {
  fs::rename(home_ / "src", far("src"));
  const Ran missing = trees("receive far:nowhere far:src --into dst");
  EXPECT_EQ(missing.status, kReadOrWriteFailed);
  EXPECT_THAT(missing.errors, HasSubstr("nowhere"));
  expect_same(far("src"), home_ / "dst/src");
}

TEST_F(TreesBySsh, LeaveNoDirectoryBehindWhereNothingWasReceived) {
  EXPECT_EQ(trees("receive far:nowhere --into dst").status, kReadOrWriteFailed);
  EXPECT_FALSE(fs::exists(home_ / "dst"));
  fs::create_directory(home_ / "own");
  EXPECT_EQ(trees("receive far:nowhere --into own").status, kReadOrWriteFailed);
  EXPECT_TRUE(fs::exists(home_ / "own")) << "it was there before";
}

TEST_F(TreesBySsh, ReportADirectoryThatCannotBeMade) {
  const Ran sent = trees("send src far:none/dst");
  EXPECT_EQ(sent.status, kReadOrWriteFailed);
  EXPECT_THAT(sent.errors, HasSubstr("the other end: make the directory none/dst: no such file or directory"));
}

TEST_F(TreesBySsh, SendToTheHomeWhereNoDirectoryIsNamed) {
  const Ran sent = trees("send src/sizes far:");
  EXPECT_EQ(sent.status, kSuccess) << sent.errors;
  expect_same(home_ / "src/sizes", far("sizes"));
}

TEST_F(TreesBySsh, FailWithRequireUdpWhereUdpIsBlocked) {
  block_all_but_ssh();
  EXPECT_EQ(trees("send --require-udp src far:dst").status, kUnreachable);
  EXPECT_FALSE(fs::exists(far("dst")));
}

TEST_F(TreesBySsh, WriteAManifestAtTheNearEnd) {
  const Ran sent = trees("send --manifest proved src far:dst");
  EXPECT_EQ(sent.status, kSuccess) << sent.errors;
  const Ran verified = near("$UDTCAT verify proved $FAR/dst");
  EXPECT_EQ(verified.status, kSuccess) << verified.errors;
}

/// The far end of a sender that was killed may still be there: it is waited for.
TEST_F(TreesBySsh, ResumeAfterTheSenderWasKilled) {
  Process sender = begin_sending("file");
  sender.send_signal(SIGKILL);
  const Ran again = trees("send --stats=json file far:dst");
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_EQ(read_file(far("dst/file")), read_file(home_ / "file"));
  EXPECT_FALSE(fs::exists(far("dst/.udtcat-parts")));
}

TEST_F(TreesBySsh, ReportTheStatisticsOfTheirPath) {
  write_random(home_ / "file", 1, scaled(16 * kMiB));
  const Ran sent = trees("send --why --stats=json file far:dst");
  EXPECT_EQ(sent.status, kSuccess) << sent.errors;
  EXPECT_THAT(sent.errors, HasSubstr("since it began"));
  const std::string object = sent.errors.substr(sent.errors.rfind('{', sent.errors.rfind("\"exit_status\"")));
  const auto stats = nlohmann::json::parse(object, nullptr, false);
  ASSERT_TRUE(stats.is_object()) << sent.errors;
  EXPECT_GT(stats.value("rtt_us", 0), 0) << stats;
  EXPECT_GT(stats.value("packets_sent", 0), 0) << stats;
  EXPECT_EQ(stats.value("protection", ""), "private") << stats;
}

/// Programs of ours that run with this home as their directory, but for those of tests.
std::size_t programs_in(const fs::path& home) {
  std::size_t count = 0;
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::error_code gone;
    if (fs::read_symlink(process.path() / "cwd", gone) == home && read_file(process.path() / "comm") == "udtcat\n")
      ++count;
  }
  return count;
}

TEST_F(TreesBySsh, RunOneProcessAtEachEnd) {
  Process sender = begin_sending("file");
  EXPECT_EQ(programs_in(home_.path()), 1U);
  EXPECT_EQ(programs_in(ssh_->far_home().path()), 1U);
  expect_exit(sender, kSuccess, kTransferLimit);
  EXPECT_EQ(read_file(far("dst/file")), read_file(home_ / "file"));
}

TEST_F(TreesBySsh, MoveToSshsConnectionWhereUdpDies) {
  Process sender = begin_sending("file");
  block_all_but_ssh();
  expect_exit(sender, kSuccess, kTransferLimit);
  EXPECT_THAT(sender.errors(), HasSubstr("UDP has become silent: going on over ssh's connection"));
  EXPECT_EQ(read_file(far("dst/file")), read_file(home_ / "file"));
}

/// Its far end, which sshd has started, from its command line and its home.
pid_t far_server_of(const fs::path& home) {
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::error_code gone;
    if (fs::read_symlink(process.path() / "cwd", gone) != home) continue;
    if (read_file(process.path() / "cmdline").find(std::string("trees-server") + '\0') == std::string::npos) continue;
    if (read_file(process.path() / "comm") == "udtcat\n") return std::stoi(process.path().filename());
  }
  return 0;
}

TEST_F(TreesBySsh, ReportThatTheFarEndIsGone) {
  Process sender = begin_sending("file");
  const pid_t server = far_server_of(ssh_->far_home().path());
  ASSERT_NE(server, 0);
  ASSERT_EQ(::kill(server, SIGKILL), 0);
  expect_exit(sender, kPeerLost, kTransferLimit);
  EXPECT_THAT(sender.errors(), HasSubstr("is lost: its port is closed: the process is gone"));
  EXPECT_EQ(count_lines(sender, "the same command goes on where this one was cut"), 1) << sender.errors();
}

}  // namespace
}  // namespace udtcat::test::e2e
