// SPDX-License-Identifier: Apache-2.0
/// A command whose input is cut never takes the fragment for all of it.
#include <csignal>

#include <gmock/gmock.h>

#include "e2e/support/rsh_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

// Commands that publish what they have read once their input has ended, as many do.
constexpr const char* kPlain = "echo $PPID > far-end; echo $$ > pid; cat > t && mv t final";
constexpr const char* kStubborn = "trap '' HUP TERM; echo $$ > pid; cat > t && mv t final";
constexpr const char* kPipeline = "echo $PPID > far-end; cat | sh -c 'echo $$ > pid; cat > t; mv t final'";

class CutInput : public RshTest {
 protected:
  /// The near end of `command`, whose input does not end.
  [[nodiscard]] Process near_end(const std::string& command) {
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
  void expect_nothing_after(int signal, const std::string& command) {
    Process near = near_end(command);
    const pid_t process = in_the_middle();
    near.send_signal(signal);
    expect_nothing_published(process, patience(40s));
  }
  void expect_nothing_of_a_killed_far_end(const std::string& command) {
    const Process near = near_end(command);
    const pid_t process = in_the_middle();
    ::kill(far_process("far-end"), SIGKILL);
    expect_nothing_published(process);
  }

  static constexpr std::uint64_t kBytes = 100'000;
  Producer producer_{1, kBytes, Afterwards::keep_open};
};

TEST_F(CutInput, OfACompleteOneIsPublished) {
  Process near = near_end(kPlain);
  ASSERT_GT(in_the_middle(), 0);
  producer_.end();
  expect_exit(near, kSuccess);
  EXPECT_TRUE(exists("final"));
}

TEST_F(CutInput, ByTheDeathOfTheNearEndIsNotPublished) { expect_nothing_after(SIGKILL, kPlain); }
TEST_F(CutInput, ByAStoppedNearEndIsNotPublished) { expect_nothing_after(SIGSTOP, kPlain); }
TEST_F(CutInput, ByASignalAtTheNearEndIsNotPublished) { expect_nothing_after(SIGTERM, kPlain); }
TEST_F(CutInput, OfACommandThatHeedsNoSignalIsNotPublishedEither) { expect_nothing_after(SIGKILL, kStubborn); }
TEST_F(CutInput, ByTheDeathOfTheFarEndIsNotPublished) { expect_nothing_of_a_killed_far_end(kPlain); }
TEST_F(CutInput, ByTheDeathOfTheFarEndIsNotPublishedByTheCommandsOwnChildrenEither) {
  expect_nothing_of_a_killed_far_end(kPipeline);
}

TEST_F(CutInput, OfWhomTheCommandLeftBehindIsNotPublished) {
  expect_nothing_after(SIGKILL, "exec 3<&0; sh -c 'echo $$ > pid; cat > t && mv t final' <&3 & exit 0");
}

TEST_F(CutInput, ByAPathThatVanishesIsNotPublished) {
  const Process near = near_end(kPlain);
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
