// SPDX-License-Identifier: Apache-2.0
/// A command in place of stdin and stdout: its status is part of the proof.
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class Exec : public UdtcatTest {
 protected:
  [[nodiscard]] Process listen_into(const std::string& command, Arguments more = {}) const {
    more.insert(more.begin(), {"--exec", command});
    return listen({.args = std::move(more)});
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (home_.path() / name).string(); }
  [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(home_.path() / name); }
  /// The command has begun, and said so in `file`, with its number.
  [[nodiscard]] pid_t begun(const std::string& file) const {
    pid_t pid = 0;
    EXPECT_TRUE(eventually(kAtOnce, [&] {
      std::ifstream(home_.path() / file) >> pid;
      return pid > 0;
    }));
    return pid;
  }
  static bool gone(pid_t pid) { return pid > 0 && ::kill(pid, 0) != 0; }
};

TEST_F(Exec, GivesTheCommandEverythingAndIsReceiptedByItsGoodEnd) {
  const RandomFile file(1, scaled(16 * kMiB));
  Process listener = listen_into("cat > " + path("t") + " && mv " + path("t") + " " + path("final"));
  Process connector = connect({.args = {"--send-only"}, .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(digest_of_prefix(home_.path() / "final", file.digest().bytes + 1), file.digest());
}

TEST_F(Exec, ThatTakesAllAndFailsIsKnownAtBothEnds) {
  const RandomFile file(1, kMiB);
  for (const char* command : {"cat > /dev/null; exit 3", "exit 3", "head -c 1000 > /dev/null; exit 3"}) {
    Process listener = listen_into(command);
    Process connector = connect({.args = {"--send-only"}, .in = open_for_reading(file.path())});
    expect_exit(connector, kReadOrWriteFailed);
    expect_says(connector, "the command there ended with status 3");
    expect_exit(listener, kReadOrWriteFailed);
    expect_says(listener, "udtcat: command: ended with status 3");
    port_ = free_port();
  }
}

TEST_F(Exec, ThatLeavesBytesUnreadIsNoSuccess) {
  const RandomFile file(1, kMiB);
  Process listener = listen_into("head -c 1000 > /dev/null");
  Process connector = connect({.args = {"--send-only"}, .in = open_for_reading(file.path())});
  expect_exit(connector, kReadOrWriteFailed);
  expect_says(connector, "udtcat: the command there left its input before it had read all");
  expect_exit(listener, kReadOrWriteFailed);
}

TEST_F(Exec, AnswersWithItsOutput) {
  Process listener = listen_into("tr a-z A-Z");
  const Ran connector = run({.argv = {"sh", "-c", "echo hello | " UDTCAT_BINARY " 127.0.0.1 " + std::to_string(port_)},
                             .environment = {"UDTCAT_KEY=" + key_}});
  EXPECT_EQ(connector.status, kSuccess) << connector.errors;
  EXPECT_EQ(connector.output, "HELLO\n");
  expect_exit(listener, kSuccess);
}

TEST_F(Exec, IsASourceWhoseFailureIsNeverACleanEnd) {
  for (const bool fails : {false, true}) {
    Consumer consumer;
    Process listener = listen({.args = {"--recv-only"}, .out = consumer.take_stdout()});
    Process connector =
        connect({.args = {"--send-only", "--exec", std::string("echo part; exit ") + (fails ? "4" : "0")}});
    expect_exit(connector, fails ? kReadOrWriteFailed : kSuccess);
    expect_exit(listener, fails ? kReadOrWriteFailed : kSuccess);
    if (fails) expect_says(listener, "udtcat: the command there ended with status 4");
    if (fails) expect_says(connector, "udtcat: command: ended with status 4");
    port_ = free_port();
  }
}

TEST_F(Exec, IsASourceOfAllThatItWroteBeforeItFailed) {
  const RandomFile file(1, scaled(16 * kMiB));
  for (const bool at_listener : {false, true}) {
    Consumer consumer;
    const Arguments source{"--send-only", "--exec", "cat " + file.path().string() + "; exit 1"};
    const Arguments sink{"--recv-only"};
    Process listener = at_listener ? listen({.args = source}) : listen({.args = sink, .out = consumer.take_stdout()});
    Process connector =
        at_listener ? connect({.args = sink, .out = consumer.take_stdout()}) : connect({.args = source});
    EXPECT_EQ(consumer.digest(), file.digest());
    expect_exit(connector, kReadOrWriteFailed);
    expect_exit(listener, kReadOrWriteFailed);
    port_ = free_port();
  }
}

TEST_F(Exec, WritesToOurOwnStdoutWhatNobodyTakes) {
  const RandomFile file(1, 1000);
  Consumer consumer;
  Process listener = listen({.args = {"--recv-only", "--exec", "wc -c"}, .out = consumer.take_stdout()});
  Process connector = connect({.in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest().bytes, 5U);
}

TEST_F(Exec, WhoseSessionIsLostTakesNoFragmentForAll) {
  Producer producer(1, 100'000, Afterwards::keep_open);
  Process listener =
      listen_into("echo $$ > " + path("pid") + "; cat > " + path("t") + " && mv " + path("t") + " " + path("final"),
                  {"--idle-timeout", "4s"});
  Process connector = connect({.args = {"--send-only"}, .in = producer.take_stdin()});
  const pid_t command = begun("pid");
  connector.send_signal(SIGKILL);
  expect_exit(listener, kPeerLost, patience(30s));
  EXPECT_TRUE(gone(command)) << "it is over when the command is";
  EXPECT_FALSE(exists("final"));
}

TEST_F(Exec, WhoseOwnEndIsKilledTakesNoFragmentForAll) {
  Producer producer(1, 100'000, Afterwards::keep_open);
  Process listener = listen_into("cat | sh -c 'echo $$ > " + path("pid") + "; cat > " + path("t") + "; mv " +
                                 path("t") + " " + path("final") + "'");
  Process connector = connect({.args = {"--send-only"}, .in = producer.take_stdin()});
  const pid_t command = begun("pid");
  listener.send_signal(SIGKILL);
  EXPECT_TRUE(eventually(kAtOnce, [&] { return gone(command); }));
  EXPECT_FALSE(exists("final"));
}

TEST_F(Exec, EndsWithItsUserHoweverStubborn) {
  Producer producer(1, 1000, Afterwards::keep_open);
  Process listener = listen_into("trap '' HUP TERM; echo $$ > " + path("pid") + "; cat; sleep 600");
  Process connector = connect({.in = producer.take_stdin()});
  const pid_t command = begun("pid");
  listener.send_signal(SIGTERM);
  expect_exit(listener, kTerminated, patience(4s));
  EXPECT_TRUE(eventually(kAtOnce, [&] { return gone(command); }));
  expect_exit(connector, kPeerLost);
}

TEST_F(Exec, RunsNothingForAStranger) {
  Process listener = listen_into("echo > " + path("ran"));
  Process stranger = connect({.key = make_key()});
  expect_exit(stranger, kRefused);
  EXPECT_TRUE(listener.running());
  EXPECT_FALSE(exists("ran"));
}

TEST_F(Exec, HasNoKeyInItsEnvironment) {
  Process listener = listen_into("env > " + path("environment"));
  Process connector = connect();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(read_file(home_.path() / "environment").find("UDTCAT_KEY"), std::string::npos);
}

TEST_F(Exec, IsRefusedBesideOtherSourcesAndSinks) {
  for (const Arguments& arguments :
       {Arguments{"--plain", "-l", "9", "--exec", "x"}, Arguments{"-l", "9", "--to", "h:1", "--exec", "x"},
        Arguments{"h", "9", "--from", "1", "--exec", "x"}, Arguments{"h", "9", "--exec", ""},
        Arguments{"rsh", "--exec", "x", "h", "y"}}) {
    Process refused = udtcat(arguments, {.key = key_});
    expect_exit(refused, arguments.front() == "rsh" ? 255 : kUsage);
    expect_says(refused, "--exec");
  }
}

}  // namespace
}  // namespace udtcat::test::e2e
