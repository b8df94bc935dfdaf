// SPDX-License-Identifier: Apache-2.0
/// ChildProcess and its watchdog against tests/models/child_watchdog.pml: a command, a second member of its group, and
/// the process that has started them, any of which ends.
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/loop.hpp"
#include "models/runs.hpp"
#include "support/deadline.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::models {
namespace {

using bridge::Descriptor;

/// A command that reads orders from the FIFO that it is given.
constexpr const char* kCommand =
    "exec 3<>\"$1\"\n"
    "while read -r order <&3; do\n"
    "  case $order in\n"
    "  begin) sleep 300 3>&- & echo $! >\"$1.member\" ;;\n"
    "  succeed) exit 0 ;;\n"
    "  fail) exit 1 ;;\n"
    "  esac\n"
    "done\n";

constexpr std::chrono::milliseconds kGroupsArePolled(120);  // guess: ChildProcess looks each 100 ms

enum class Order : char { close_pipe, end_input, kill_group };

/// Starts the command, says its number, and does and confirms what comes by `orders`, until it is killed.
[[noreturn]] void obey(const Descriptor& orders, const std::string& fifo) {
  std::ignore = ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // then the watchdog kills the command
  boost::asio::io_context io;
  auto command = bridge::ChildProcess::start(
      io, {.program = "/bin/sh", .words = {"sh", "-c", kCommand, "sh", fifo}, .core_limit_bytes = {}},
      [](bridge::ChildExit) {});
  if (!command) ::_exit(1);
  bridge::ChildPipes pipes = (*command)->take_pipes();
  const pid_t pid = (*command)->pid();
  std::ignore = ::send(orders.number(), &pid, sizeof pid, 0);
  for (;;) {
    Order order{};
    const auto has_come = [&] { return ::recv(orders.number(), &order, sizeof order, MSG_DONTWAIT) == sizeof order; };
    while (!bridge::run_until(io, has_come)) continue;
    if (order == Order::close_pipe) std::ignore = pipes.input.close();
    if (order == Order::end_input) (*command)->end_input();
    if (order == Order::kill_group) (*command)->signal_group(SIGKILL);
    std::ignore = ::send(orders.number(), &order, sizeof order, 0);
  }
}

class WatchedCommand {
 public:
  ~WatchedCommand() {
    we_are_killed();
    if (command_ > 0) std::ignore = ::kill(-command_, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }
  void take(const Step& step) {
    const auto found = kSteps.find(step.name);
    ASSERT_NE(found, kSteps.end()) << step.name;
    (this->*found->second)();
  }
  [[nodiscard]] bool shows(const std::string& wanted) {
    return test::eventually(test::kWatchdog, [&] { return seen() == wanted; });
  }
  /// As the model's OBSERVE has it.
  [[nodiscard]] std::string seen() {
    pollfd input{input_.number(), 0, 0};
    const bool has_ended = ::poll(&input, 1, 0) == 1;
    std::string shown;
    for (const bool each : {lives(command_), lives(member_), lives(watchdog_), has_ended}) shown += each ? '1' : '0';
    return shown;
  }

 private:
  /// process   -1 from when it has come to us as an orphan, and is reaped
  [[nodiscard]] static bool lives(pid_t& process) {
    if (process > 0 && ::waitpid(process, nullptr, WNOHANG) == process) process = -1;
    if (process <= 0) return false;
    const std::string stat = test::read_file("/proc/" + std::to_string(process) + "/stat");
    const auto name_end = stat.rfind(") ");
    return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
  }
  void ask(const char* order) const {
    std::ignore = ::write(fifo_.number(), order, std::char_traits<char>::length(order));
  }
  void ask_us(Order order) const {
    std::ignore = ::send(orders_.number(), &order, sizeof order, MSG_NOSIGNAL);
    ASSERT_EQ(::recv(orders_.number(), &order, sizeof order, 0), static_cast<ssize_t>(sizeof order));
  }

  void we_fork() {
    const std::string path = folder_ / "orders";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    fifo_ = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    auto [ours, theirs] = bridge::make_socket_pair();
    we_ = ::fork();
    if (we_ == 0) obey(theirs, path);
    orders_ = std::move(ours);
    std::ignore = theirs.close();
    ASSERT_EQ(::recv(orders_.number(), &command_, sizeof command_, 0), static_cast<ssize_t>(sizeof command_));
    const std::string us = std::to_string(we_);
    std::istringstream children(test::read_file("/proc/" + us + "/task/" + us + "/children"));
    for (pid_t child = 0; children >> child;)
      if (child != command_) watchdog_ = child;
    // The reading end of what the watchdog holds: the shell has its own at other numbers while it reads an order.
    input_ =
        Descriptor(::open(("/proc/" + std::to_string(watchdog_) + "/fd/1").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(input_.is_open());
  }
  void member_begins() {
    ask("begin\n");
    const auto is_told = [this] { return test::read_file(folder_ / "orders.member").ends_with('\n'); };
    ASSERT_TRUE(test::eventually(test::kWatchdog, is_told));
    member_ = static_cast<pid_t>(std::stol(test::read_file(folder_ / "orders.member")));
  }
  void command_succeeds() { ask("succeed\n"); }
  void command_fails() { ask("fail\n"); }
  void member_ends() { ASSERT_EQ(::kill(member_, SIGKILL), 0); }
  void pipe_is_closed() { ask_us(Order::close_pipe); }
  void we_end_input() { ask_us(Order::end_input); }
  void we_kill_the_group() { ask_us(Order::kill_group); }
  void we_are_killed() {
    if (we_ <= 0) return;
    std::ignore = ::kill(we_, SIGKILL);
    while (::waitpid(we_, nullptr, 0) < 0 && errno == EINTR) continue;
    we_ = -1;
  }

  using Action = void (WatchedCommand::*)();
  static const std::map<std::string, Action> kSteps;

  test::TempDir folder_;
  Descriptor fifo_;
  Descriptor orders_;
  Descriptor input_;
  pid_t we_ = -1;
  pid_t command_ = -1;
  pid_t member_ = -1;
  pid_t watchdog_ = -1;
};

const std::map<std::string, WatchedCommand::Action> WatchedCommand::kSteps{
    {"we_fork", &WatchedCommand::we_fork},
    {"member_begins", &WatchedCommand::member_begins},
    {"command_succeeds", &WatchedCommand::command_succeeds},
    {"command_fails", &WatchedCommand::command_fails},
    {"member_ends", &WatchedCommand::member_ends},
    {"all_is_taken", &WatchedCommand::pipe_is_closed},
    {"we_end_input", &WatchedCommand::we_end_input},
    {"stream_is_aborted", &WatchedCommand::pipe_is_closed},
    {"we_kill_the_group", &WatchedCommand::we_kill_the_group},
    {"we_are_killed", &WatchedCommand::we_are_killed},
};

TEST(ChildWatchdog, DoesWhatItsModelDoes) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // a zombie that nobody reaps is a member of its group
  play_all_runs([](const Steps& run) -> std::string {
    WatchedCommand command;
    const std::string difference = take_steps(run, command);
    if (!difference.empty()) return difference;
    test::let_pass(kGroupsArePolled);
    if (command.seen() != run.back().seen) return "later: " + command.seen() + " instead of " + run.back().seen;
    return {};
  });
}

}  // namespace
}  // namespace udtcat::models
