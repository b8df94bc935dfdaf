// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_process.hpp"

#include <csignal>
#include <fstream>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/bridge/child_test.hpp"

namespace udtcat::bridge {
namespace {

class Children : public ChildTest {
 protected:
  [[nodiscard]] bool ends() {
    return run_until(io, [this] { return end.has_value(); });
  }
  /// A process that leads a group of that number, and waits for a signal.  returns  -1: that cannot be had
  static pid_t start_group_with_number(pid_t wanted) {
    constexpr int kTries = 1000;  // others start processes as well
    for (int tried = 0; tried < kTries; ++tried) {
      std::ofstream last("/proc/sys/kernel/ns_last_pid");
      if (!(last << wanted - 1 << std::flush)) return -1;
      const pid_t made = ::fork();
      if (made == 0) {
        ::setpgid(0, 0);
        for (;;) ::pause();
      }
      ::setpgid(made, made);
      if (made == wanted) return made;
      ::kill(made, SIGKILL);
      ::waitpid(made, nullptr, 0);
    }
    return -1;
  }
};

TEST_F(Children, HaveThreeDescriptorsOfTheirOwn) {
  start("cat; echo said >&2");
  auto written = write_all_in_background(std::move(pipes.input), bytes_of("read"));
  child->end_input();
  EXPECT_EQ(text_of(read_all(pipes.output.number())), "read");
  EXPECT_EQ(text_of(read_all(pipes.errors.number())), "said\n");
  EXPECT_TRUE(ends());
}

TEST_F(Children, HaveVariablesOfTheirOwnInThePlaceOfOurs) {
  ::setenv("UDTCAT_TEST_ONE", "ours", 1);
  ::setenv("UDTCAT_TEST_TWO", "ours", 1);
  ::setenv("UDTCAT_TEST_THREE", "ours", 1);
  start("echo $UDTCAT_TEST_ONE,$UDTCAT_TEST_TWO,$UDTCAT_TEST_THREE",
        {{"UDTCAT_TEST_ONE", "its own"}, {"UDTCAT_TEST_TWO", std::nullopt}});
  EXPECT_EQ(text_of(read_all(pipes.output.number())), "its own,,ours\n");
  EXPECT_TRUE(ends());
}

TEST_F(Children, HaveNoDescriptorBeyondThose) {
  const int ours = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a library may do
  start("ls /proc/self/fd");
  // The fourth is that of ls itself.
  EXPECT_EQ(text_of(read_all(pipes.output.number())), "0\n1\n2\n3\n");
  EXPECT_TRUE(ends());
  ::close(ours);
}

TEST_F(Children, TellTheirStatus) {
  start("exit 7");
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->status, 7);
  EXPECT_EQ(end->signal, 0);
  EXPECT_TRUE(child->end());
}

TEST_F(Children, TellTheSignalThatEndedThem) {
  start("kill -TERM $$");
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->signal, SIGTERM);
}

TEST_F(Children, TakeASignalTogetherWithTheirOwnChildren) {
  start("sleep 60 & echo up; wait");
  Bytes up(3);
  ASSERT_EQ(::read(pipes.output.number(), up.data(), up.size()), 3);
  child->signal(SIGTERM);
  EXPECT_TRUE(ends());
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

TEST_F(Children, AreWatchedToTheLastOfTheirGroup) {
  start("trap '' HUP; sleep 60 & trap - HUP; echo up; wait");
  Bytes up(3);
  ASSERT_EQ(::read(pipes.output.number(), up.data(), up.size()), 3);
  child->signal(SIGHUP);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(child->group_lives()) << "its own child heeds no hangup";
  child->signal_group(SIGKILL);
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

TEST_F(Children, AreKilledWhenWeDieWithAllOfTheirGroupAndReadNoEnd) {
  Ends said = make_pipe();
  const pid_t we = ::fork();
  if (we == 0) {
    std::ignore = ::dup2(said.write.number(), STDERR_FILENO);
    boost::asio::io_context own;
    const auto started = ChildProcess::start(own,
                                             {.program = "/bin/sh",
                                              .words = {"sh", "-c", "echo up >&2; cat | { cat; echo end >&2; }"},
                                              .pipe_stderr = false,
                                              .core_limit_bytes = {}},
                                             [](ChildExit) {});
    for (;;) ::pause();
  }
  std::ignore = said.write.close();
  Bytes up(3);
  ASSERT_EQ(::read(said.read.number(), up.data(), up.size()), 3);
  ::kill(we, SIGKILL);
  ::waitpid(we, nullptr, 0);
  EXPECT_EQ(text_of(read_all(said.read.number())), "") << "the end of what all of them hold says that they have gone";
}

TEST_F(Children, AreKilledWithAllOfTheirGroupOnDestruction) {
  start("trap '' HUP TERM; sleep 60 & echo up; wait");
  Bytes up(3);
  ASSERT_EQ(::read(pipes.output.number(), up.data(), up.size()), 3);
  child.reset();
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

TEST_F(Children, ThatHaveGoneWithAllOfTheirGroupAreSignalledNeverAgain) {
  start("exit 0");
  ASSERT_TRUE(ends());
  EXPECT_FALSE(child->group_lives());
  const pid_t stranger = start_group_with_number(child->pid());
  if (stranger < 0) GTEST_SKIP() << "the system lets nobody but root choose the number of a process";
  child->signal_group(SIGTERM);
  ::kill(-stranger, SIGUSR1);
  int status = 0;
  ::waitpid(stranger, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGUSR1);
}

TEST_F(Children, IgnoreAndBlockNothingThatWeDo) {
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &before), 0);
  ::signal(SIGPIPE, SIG_IGN);
  start("kill -PIPE $$; exit 1");
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->signal, SIGPIPE);
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST_F(Children, ThatCannotBeRunAreAnErrorThatNamesThem) {
  const auto started =
      ChildProcess::start(io, {.program = "/no/such/program", .words = {"x"}, .core_limit_bytes = {}}, nullptr);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::local_connect_failed);
  EXPECT_NE(started.error().message().find("/no/such/program"), std::string::npos);
}

}  // namespace
}  // namespace udtcat::bridge
