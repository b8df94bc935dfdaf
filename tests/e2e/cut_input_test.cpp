// SPDX-License-Identifier: Apache-2.0
/// A command whose input is cut never takes the fragment for all of it.
#include <csignal>

#include <gmock/gmock.h>

#include "e2e/support/rsh_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

/// A command that publishes what it has read once its input has ended, as many do.
class CutInput : public RshTest {
 protected:
  void SetUp() override {
    RshTest::SetUp();
    if (IsSkipped()) return;
    const std::string far = ssh_->far_home().path().string();
    ssh_->far_home().write("plain", "#!/bin/sh\ncd " + far + "; echo $$ > pid; cat > t && mv t final\n");
    ssh_->far_home().write("stubborn",
                           "#!/bin/sh\ntrap '' HUP TERM\ncd " + far + "; echo $$ > pid; cat > t && mv t final\n");
    ssh_->far_home().write("pipeline", "#!/bin/sh\ncd " + far + "; cat | sh -c 'echo $$ > pid; cat > t; mv t final'\n");
    std::string list;
    for (const std::string name : {"plain", "stubborn", "pipeline"}) list += name + " = sh " + far + "/" + name + "\n";
    ssh_->far_home().write("list", list);
  }
  [[nodiscard]] Process start_daemon() const {
    return udtcat({"rsh-daemon", "-l", hosts_->far_host().ipv4 + ":" + std::to_string(port_), "--allow",
                   (ssh_->far_home().path() / "list").string(), "--idle-timeout", "4s", "-v"},
                  {.key = key_, .network_namespace = hosts_->far_host().file});
  }
  /// The near end of `command`, whose input does not end.
  [[nodiscard]] Process near_end_at_daemon(const std::string& command) {
    return udtcat({"rsh", "--daemon", "--port", std::to_string(port_), hosts_->far_host().ipv4, command},
                  {.in = producer_.take_stdin(), .key = key_, .network_namespace = hosts_->near_host().file});
  }
  [[nodiscard]] Process near_end_over_ssh(const std::string& command) {
    return Process(
        {.argv = {UDTCAT_BINARY, "rsh", "--idle-timeout", "4s", "-F", ssh_->ssh_config().string(), "far", command},
         .environment = environment(),
         .in = producer_.take_stdin(),
         .working_directory = home_.path(),
         .network_namespace = hosts_->near_host().file});
  }
  [[nodiscard]] bool exists(const char* name) const { return std::filesystem::exists(ssh_->far_home().path() / name); }
  /// Waits until the command is in the middle of it; gives its process.
  [[nodiscard]] pid_t in_the_middle() const {
    EXPECT_TRUE(eventually(patience(20s), [&] {
      std::error_code none_yet;
      return std::filesystem::file_size(ssh_->far_home().path() / "t", none_yet) >= kBytes && !none_yet;
    }));
    return far_process("pid");
  }
  void expect_nothing_published(pid_t command, std::chrono::milliseconds limit = patience(30s)) const {
    EXPECT_TRUE(eventually(limit, [&] { return gone(command); })) << "the command lives";
    EXPECT_TRUE(exists("t"));
    EXPECT_FALSE(exists("final")) << "a fragment was published";
  }

  void expect_nothing_of_a_killed_far_end(const std::string& command) {
    Process daemon = start_daemon();
    const Process near_end = near_end_at_daemon(command);
    const pid_t process = in_the_middle();
    daemon.send_signal(SIGKILL);
    expect_nothing_published(process);
  }

  static constexpr std::uint64_t kBytes = 100'000;
  Producer producer_{1, kBytes, Afterwards::keep_open};
};

TEST_F(CutInput, OfACompleteOneIsPublished) {
  Process daemon = start_daemon();
  Process near_end = near_end_at_daemon("plain");
  ASSERT_GT(in_the_middle(), 0);
  producer_.end();
  expect_exit(near_end, kSuccess);
  EXPECT_TRUE(exists("final"));
}

TEST_F(CutInput, ByTheDeathOfTheNearEndIsNotPublished) {
  Process daemon = start_daemon();
  Process near_end = near_end_at_daemon("plain");
  const pid_t command = in_the_middle();
  near_end.send_signal(SIGKILL);
  expect_nothing_published(command);
  EXPECT_TRUE(daemon.running());
}

TEST_F(CutInput, ByAStoppedNearEndIsNotPublished) {
  Process daemon = start_daemon();
  Process near_end = near_end_at_daemon("plain");
  const pid_t command = in_the_middle();
  near_end.send_signal(SIGSTOP);
  expect_nothing_published(command);
}

TEST_F(CutInput, ByABlackHoleIsNotPublished) {
  Process daemon = start_daemon();
  Process near_end = near_end_at_daemon("plain");
  const pid_t command = in_the_middle();
  hosts_->black_hole();
  expect_nothing_published(command);
}

TEST_F(CutInput, ByTheDeathOfTheFarEndIsNotPublished) { expect_nothing_of_a_killed_far_end("plain"); }

TEST_F(CutInput, ByTheDeathOfTheFarEndIsNotPublishedByTheCommandsOwnChildrenEither) {
  expect_nothing_of_a_killed_far_end("pipeline");
}

TEST_F(CutInput, ByASignalAtTheNearEndIsNotPublished) {
  Process daemon = start_daemon();
  Process near_end = near_end_at_daemon("plain");
  const pid_t command = in_the_middle();
  near_end.send_signal(SIGTERM);
  expect_nothing_published(command);
}

TEST_F(CutInput, OfACommandThatHeedsNoSignalIsNotPublishedEither) {
  Process daemon = start_daemon();
  Process near_end = near_end_at_daemon("stubborn");
  const pid_t command = in_the_middle();
  near_end.send_signal(SIGKILL);
  expect_nothing_published(command, patience(40s));
}

TEST_F(CutInput, OverASessionThatSshBeganIsNotPublished) {
  Process near_end = near_end_over_ssh("echo $$ > pid; cat > t && mv t final");
  const pid_t command = in_the_middle();
  near_end.send_signal(SIGKILL);
  expect_nothing_published(command);
}

TEST_F(CutInput, OfWhomTheCommandLeftBehindIsNotPublished) {
  Process near_end = near_end_over_ssh("exec 3<&0; sh -c 'echo $$ > pid; cat > t && mv t final' <&3 & exit 0");
  const pid_t reader = in_the_middle();
  near_end.send_signal(SIGKILL);
  expect_nothing_published(reader);
}

TEST_F(CutInput, ByAPathThatVanishesUnderASessionThatSshBeganIsNotPublished) {
  Process near_end = near_end_over_ssh("echo $$ > pid; cat > t && mv t final");
  const pid_t command = in_the_middle();
  hosts_->black_hole();
  expect_nothing_published(command);
}

TEST_F(CutInput, ThatCannotBeReadHereEndsTheCommandAndIsNamed) {
  const Ran ran = near("$RSH far 'echo $$ > pid; cat > t && mv t final' < /");
  EXPECT_EQ(ran.status, kOwnFailure);
  EXPECT_THAT(ran.errors, HasSubstr("local read from stdin failed"));
  EXPECT_FALSE(exists("final"));
  EXPECT_EQ(near("$RSH far cat <&-").status, 0) << "where there is none it has ended";
}

}  // namespace
}  // namespace udtcat::test::e2e
