// SPDX-License-Identifier: Apache-2.0
/// Udtcat as a service: what its manager hears, by systemd's own datagrams, and the unit under a real systemd.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

/// The end of a manager at which its services speak. spec: sd_notify(3)
class NotifySocket {
 public:
  explicit NotifySocket(std::string path)
      : path_(std::move(path)), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    // SAFETY: sockaddr_un is a sockaddr of AF_UNIX.
    if (::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("bind " + path_);
  }
  [[nodiscard]] std::string variable() const { return "NOTIFY_SOCKET=" + path_; }
  /// The next message; empty where none comes.
  [[nodiscard]] std::string next(std::chrono::milliseconds limit = kAtOnce) const {
    pollfd ready{.fd = socket_.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(limit.count())) <= 0) return {};
    std::array<char, 4096> message{};
    const ssize_t bytes = ::recv(socket_.fd(), message.data(), message.size(), 0);
    return {message.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
  }
  /// Whether `message` comes, after others.
  [[nodiscard]] bool hears(const std::string& message) const {
    for (std::string heard = next(); !heard.empty(); heard = next())
      if (heard == message) return true;
    return false;
  }

 private:
  const std::string path_;
  const Descriptor socket_;
};

class ManagedService : public UdtcatTest {
 protected:
  [[nodiscard]] Process start(Arguments args, Arguments environment = {}) const {
    environment.push_back(manager_.variable());
    return listen({.args = std::move(args), .environment = std::move(environment)});
  }
  const NotifySocket manager_{(home_ / "notify").string()};
};

TEST_F(ManagedService, IsReadyWhenItListensAndSaysWhenItStops) {
  Process service = start({"--to", "127.0.0.1:9"});
  EXPECT_EQ(manager_.next(), "READY=1") << service.errors();
  Process stranger = connect({.key = make_key()});
  expect_exit(stranger, kRefused);  // it does listen
  service.send_signal(SIGTERM);
  EXPECT_TRUE(manager_.hears("STOPPING=1"));
  expect_exit(service, kTerminated);
}

TEST_F(ManagedService, ThatForwardsIsReadyWhenItHoldsItsPorts) {
  const std::uint16_t entrance = free_port();
  const Process to = listen({.args = {"--to", "127.0.0.1:9"}});
  const Process from = connect({.args = {"--from", std::to_string(entrance)}, .environment = {manager_.variable()}});
  EXPECT_EQ(manager_.next(), "READY=1") << from.errors();
  EXPECT_TRUE(TcpClient(entrance, kAtOnce).connected());
}

TEST_F(ManagedService, ThatCannotBeStartedIsNeverReady) {
  const BoundUdp taken = bind_udp();
  port_ = taken.port;
  Process service = start({"--to", "127.0.0.1:9"});
  expect_exit(service, kUnreachable);
  EXPECT_THAT(manager_.next(0ms), testing::AnyOf("", "STOPPING=1"));
}

TEST_F(ManagedService, ReadsAgainAtAHangupAndGoesOn) {
  const std::string key = (home_ / "pair").string();
  const std::string alice = run({.argv = {UDTCAT_BINARY, "keygen", "--pair", key}}).output;
  const auto peers = home_.write("peers", "alice " + alice.substr(0, alice.find('\n')) + "\n");
  const Process service = listen({.args = {"-v", "-k", key, "--peers", peers, "--to", "127.0.0.1:9"},
                                  .key = "",
                                  .environment = {manager_.variable()}});
  ASSERT_EQ(manager_.next(), "READY=1") << service.errors();
  home_.write("peers", "# nobody\n");
  service.send_signal(SIGHUP);
  EXPECT_THAT(manager_.next(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  EXPECT_EQ(manager_.next(), "READY=1");
  expect_says(service, "again: 0 peers");
  home_.write("peers", "no list\n");
  service.send_signal(SIGHUP);
  expect_says(service, "the peers stay as they were read before");
}

TEST_F(ManagedService, WithNothingToReadAgainSurvivesAReload) {
  Process service = start({"--to", "127.0.0.1:9"});
  ASSERT_EQ(manager_.next(), "READY=1") << service.errors();
  service.send_signal(SIGHUP);
  EXPECT_THAT(manager_.next(), HasSubstr("RELOADING=1"));
  EXPECT_EQ(manager_.next(), "READY=1");
  EXPECT_TRUE(service.running());
}

TEST_F(ManagedService, PingsTheWatchdogAndSaysHowItIs) {
  const Process service = start({"--to", "127.0.0.1:9"}, {"WATCHDOG_USEC=200000"});
  ASSERT_EQ(manager_.next(), "READY=1") << service.errors();
  EXPECT_EQ(manager_.next(), "WATCHDOG=1");
  EXPECT_EQ(manager_.next(), "WATCHDOG=1");
  EXPECT_TRUE(manager_.hears("STATUS=0 peers, 0 B/s"));
}

TEST_F(ManagedService, ThatHangsPingsNoMore) {
  const Process service = start({"--to", "127.0.0.1:9"}, {"WATCHDOG_USEC=200000"});
  ASSERT_EQ(manager_.next(), "READY=1") << service.errors();
  ASSERT_EQ(manager_.next(), "WATCHDOG=1");
  service.send_signal(SIGSTOP);
  std::string last = manager_.next(200ms);
  if (!last.empty()) last = manager_.next(500ms);  // one may have been on its way
  EXPECT_EQ(last, "");
}

class Unit : public UdtcatTest {
 protected:
  static constexpr const char* kUnitFile = UDTCAT_SOURCE_DIR "/wrappers/systemd/udtcat@.service";
};

TEST_F(Unit, HasLittleThatAnIntruderCouldUse) {
  const auto unit = home_.write("udtcat@db.service", read_file(kUnitFile), 0644);
  const Ran ran = run({.argv = {"systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", unit}});
  EXPECT_EQ(ran.status, 0) << "the exposure is 2.0 or more:\n" << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("Overall exposure level"));
}

/// The unit under a systemd of its own.
class RealUnit : public Unit {
 protected:
  void SetUp() override {
    const auto configuration =
        home_.write("test.conf", "listen 127.0.0.1:" + std::to_string(port_) + "\nto 127.0.0.1:9\n", 0644);
    std::string text = read_file(kUnitFile);
    constexpr std::string_view kWatchdog = "WatchdogSec=30s";
    ASSERT_NE(text.find(kWatchdog), std::string::npos);
    text.replace(text.find(kWatchdog), kWatchdog.size(), "WatchdogSec=1s");            // shorter, and else as it is
    if (kSanitized) text += "\n[Service]\nEnvironment=ASAN_OPTIONS=detect_leaks=0\n";  // which asks for ptrace(2)
    const auto unit = home_.write("udtcat@.service", text, 0644);
    Pipe end = make_pipe();
    Pipe said = make_pipe();
    end_ = std::move(end.writing);
    said_ = std::move(said.reading);
    outer_.emplace(Command{.argv = {UDTCAT_SOURCE_DIR "/tests/e2e/support/with_systemd", UDTCAT_BINARY, unit,
                                    configuration, home_.write("key", key_)},
                           .in = std::move(end.reading),
                           .out = std::move(said.writing)});
    if (!read_pid()) GTEST_SKIP() << "systemd cannot run here: " << outer_->errors();
  }
  void TearDown() override {
    end_.close();
    if (outer_) {
      EXPECT_TRUE(outer_->wait(kAtOnce)) << outer_->errors();
    }
  }
  [[nodiscard]] Ran in_there(Arguments words) const {
    words.insert(words.begin(), {"nsenter", "--target", pid_, "--all"});
    return run({.argv = std::move(words)});
  }
  [[nodiscard]] std::string property(const std::string& name) const {
    return in_there({"systemctl", "show", "--value", "--property", name, "udtcat@test"}).output;
  }

  Descriptor end_;
  Descriptor said_;
  std::optional<Process> outer_;
  std::string pid_;

 private:
  [[nodiscard]] bool read_pid() {
    pollfd ready{.fd = said_.fd(), .events = POLLIN, .revents = 0};
    std::array<char, 64> line{};
    if (::poll(&ready, 1, static_cast<int>(kTransferLimit.count())) <= 0) return false;
    const ssize_t bytes = ::read(said_.fd(), line.data(), line.size());
    const std::string text(line.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
    constexpr std::string_view kSays = "systemd is ";
    if (!text.starts_with(kSays)) return false;
    pid_ = text.substr(kSays.size(), text.find('\n') - kSays.size());
    return true;
  }
};

TEST_F(RealUnit, StartsReloadsAnswersAndStops) {
  const Ran started = in_there({"systemctl", "start", "udtcat@test"});
  ASSERT_EQ(started.status, 0) << started.errors << in_there({"systemctl", "status", "udtcat@test"}).output;
  EXPECT_EQ(property("ActiveState"), "active\n");
  EXPECT_EQ(property("User"), "udtcat-test\n") << "a user of its own, made for it";
  const std::string main = property("MainPID");
  EXPECT_THAT(in_there({"udtcat", "status"}).output,
              AllOf(HasSubstr("(pid " + main.substr(0, main.find('\n')) + ","),
                    HasSubstr("listening on udp 127.0.0.1:" + std::to_string(port_))));
  EXPECT_EQ(in_there({"systemctl", "reload", "udtcat@test"}).status, 0);
  EXPECT_EQ(property("MainPID"), main);
  EXPECT_TRUE(eventually(patience(20s), [&] { return property("StatusText") == "0 peers, 0 B/s\n"; }));
  EXPECT_EQ(in_there({"systemctl", "stop", "udtcat@test"}).status, 0);
  EXPECT_EQ(property("Result"), "success\n");
  EXPECT_EQ(property("ActiveState"), "inactive\n");
}

TEST_F(RealUnit, IsStartedAgainWhenItWasKilled) {
  ASSERT_EQ(in_there({"systemctl", "start", "udtcat@test"}).status, 0);
  ASSERT_EQ(in_there({"systemctl", "kill", "--signal=KILL", "udtcat@test"}).status, 0);
  EXPECT_TRUE(eventually(patience(20s), [&] { return property("NRestarts") == "1\n"; }));
  EXPECT_TRUE(eventually(patience(20s), [&] { return property("ActiveState") == "active\n"; }));
}

TEST_F(RealUnit, IsKilledAndStartedAgainWhenItHangs) {
  ASSERT_EQ(in_there({"systemctl", "start", "udtcat@test"}).status, 0);
  ASSERT_EQ(in_there({"systemctl", "kill", "--signal=STOP", "udtcat@test"}).status, 0);
  EXPECT_TRUE(eventually(patience(20s), [&] { return property("NRestarts") == "1\n"; })) << property("Result");
}

}  // namespace
}  // namespace udtcat::test::e2e
