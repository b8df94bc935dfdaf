#include "bridge/child_process.hpp"

#include <csignal>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

class Children : public testing::Test {
 protected:
  void start(const std::string& script) {
    auto started =
        ChildProcess::start(io, {.program = "/bin/sh", .words = {"sh", "-c", script}, .core_limit_bytes = {}},
                            [this](ChildEnd how) { end = how; });
    ASSERT_TRUE(started) << started.error().message();
    child = std::move(*started);
    pipes = child->take_pipes();
  }
  [[nodiscard]] bool ends() {
    return run_until(io, [this] { return end.has_value(); });
  }
  static std::string text_of(const Bytes& bytes) {
    std::string text;
    for (const std::byte each : bytes) text += std::to_integer<char>(each);
    return text;
  }

  boost::asio::io_context io;
  std::optional<ChildEnd> end;
  std::unique_ptr<ChildProcess> child;
  ChildPipes pipes;
};

TEST_F(Children, HaveThreeDescriptorsOfTheirOwn) {
  start("cat; echo said >&2");
  auto written = write_all_in_background(std::move(pipes.input), bytes_of("read"));
  EXPECT_EQ(text_of(read_all(pipes.output.number())), "read");
  EXPECT_EQ(text_of(read_all(pipes.errors.number())), "said\n");
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

TEST_F(Children, AreSeenToTheLastOfTheirGroup) {
  start("trap '' HUP; sleep 60 & trap - HUP; echo up; wait");
  Bytes up(3);
  ASSERT_EQ(::read(pipes.output.number(), up.data(), up.size()), 3);
  child->signal(SIGHUP);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(child->group_lives()) << "its own child heeds no hangup";
  child->signal_group(SIGKILL);
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

TEST_F(Children, AreKilledWhenWeDie) {
  Ends said = make_pipe();
  const pid_t we = ::fork();
  if (we == 0) {
    boost::asio::io_context own;
    auto started = ChildProcess::start(
        own, {.program = "/bin/sh", .words = {"sh", "-c", "sleep 60"}, .core_limit_bytes = {}}, [](ChildEnd) {});
    const pid_t child_pid = started ? (*started)->pid() : 0;
    std::ignore = ::write(said.write.number(), &child_pid, sizeof child_pid);
    for (;;) ::pause();
  }
  pid_t child_pid = 0;
  ASSERT_EQ(::read(said.read.number(), &child_pid, sizeof child_pid), static_cast<ssize_t>(sizeof child_pid));
  ASSERT_GT(child_pid, 0);
  // Readable once its process has ended, whoever inherits and buries that.
  const Descriptor child_ends(static_cast<int>(::syscall(SYS_pidfd_open, child_pid, 0)));
  ::kill(we, SIGKILL);
  ::waitpid(we, nullptr, 0);
  pollfd wait{child_ends.number(), POLLIN, 0};
  const auto watchdog = std::chrono::duration_cast<std::chrono::milliseconds>(kWatchdog);
  EXPECT_EQ(::poll(&wait, 1, static_cast<int>(watchdog.count())), 1);
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
