// SPDX-License-Identifier: Apache-2.0
/// Keys that can't be used, and two ends that ask for different things.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class KeyUsage : public UdtcatTest {};

TEST_F(KeyUsage, OfADescriptorReachesTheProgramWithLibudtToo) {
  const std::string command = std::string("exec ") + UDTCAT_BINARY + " 127.0.0.1 " + std::to_string(port_) +
                              " --connect-timeout 100ms --transport libudt -k <(echo " + key_ + ")";
  const Ran ran = run({.argv = {"bash", "-c", command}});
  EXPECT_EQ(ran.status, kUnreachable) << ran.errors;
}

TEST_F(KeyUsage, WithoutAnyIsRefusedWhereNobodyCanBeAsked) {
  Process process = connect({.key = ""});
  expect_exit(process, kUsage, kAtOnce);
}

TEST_F(KeyUsage, WithoutAnyAListenerShowsANewOneOnItsTerminalApartFromTheCommandForTheOtherHost) {
  const RandomFile file(1, kMiB);
  const auto log = home_.path() / "log";
  const auto output = home_.path() / "output";
  const auto screen = home_.path() / "screen";
  const std::string command = std::string("exec ") + UDTCAT_BINARY + " -l 127.0.0.1:" + std::to_string(port_) +
                              " --recv-only 2> " + log.string() + " > " + output.string();
  Process listener({.argv = {"script", "-qfec", command, screen.string()}});
  std::string key;
  ASSERT_TRUE(eventually(kAtOnce, [&] {
    const std::string shown = read_file(screen);
    const auto at = shown.find("udtcat1-");
    if (at != std::string::npos) key = shown.substr(at, key_.size());
    return key.size() == key_.size();
  })) << read_file(log);
  const std::string told = "udtcat 127.0.0.1 " + std::to_string(port_) + " --send-only\n";
  EXPECT_TRUE(eventually(kAtOnce, [&] { return read_file(log).find(told) != std::string::npos; })) << read_file(log);
  EXPECT_THAT(read_file(log), AllOf(Not(HasSubstr("udtcat1-")), Not(HasSubstr("UDTCAT_KEY"))));
  Process connector = connect({.in = open_for_reading(file.path()), .key = key});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(read_file(output), read_file(file.path()));
}

TEST_F(KeyUsage, WithoutAnyAListenerThatSendsAFileTellsTheOtherHostNotToReadItsTerminal) {
  const RandomFile file(1, kMiB);
  const auto log = home_.path() / "log";
  const auto screen = home_.path() / "screen";
  // A port for each: a listener outlives its terminal by a moment.
  const auto options_told_by = [&](const std::string& words) {
    std::filesystem::remove(log);
    const std::string port = std::to_string(free_port());
    const std::string command =
        std::string("exec ") + UDTCAT_BINARY + " -l 127.0.0.1:" + port + words + " 2> " + log.string();
    const Process listener({.argv = {"script", "-qfec", command, screen.string()}});
    const std::string told = "udtcat 127.0.0.1 " + port;
    std::string options;
    EXPECT_TRUE(eventually(kAtOnce, [&] {
      const std::string text = read_file(log);
      const auto at = text.find(told);
      options = at == std::string::npos ? "" : text.substr(at + told.size());
      return options.find('\n') != std::string::npos;
    })) << read_file(log);
    return options.substr(0, options.find('\n'));
  };
  const std::string copy = " > " + (home_.path() / "copy").string();
  EXPECT_EQ(options_told_by(" < " + file.path().string()), " --recv-only");
  EXPECT_EQ(options_told_by(" < " + file.path().string() + copy), "");
  EXPECT_EQ(options_told_by(copy), " --send-only");
  EXPECT_EQ(options_told_by(""), "") << "two people";
}

TEST_F(KeyUsage, WithoutAnyAndWithoutATerminalAListenerSaysHowToMakeOneAndLogsNone) {
  Process listener = listen({.key = ""});
  expect_exit(listener, kUsage, kAtOnce);
  expect_says(listener, "keygen");
  expect_says(listener, "--key-file");
  EXPECT_EQ(count_lines(listener, "udtcat1-"), 0) << listener.errors();
}

/// Two ends that ask for different things.
class LevelMismatch : public UdtcatTest, public testing::WithParamInterface<std::pair<std::string, std::string>> {};

/// Proves: threat-model.same-level
TEST_P(LevelMismatch, IsRefusedAtOnceAndNothingIsReleased) {
  const auto& [listens, connects] = GetParam();
  Consumer consumer;
  const RandomFile file(2, kMiB);
  Process listener =
      listen({.args = {"--protect", listens}, .out = consumer.take_stdout(), .key = listens == "clear" ? "" : key_});
  Process connector = connect(
      {.args = {"--protect", connects}, .in = open_for_reading(file.path()), .key = connects == "clear" ? "" : key_});
  expect_exit(connector, kRefused, kAtOnce);
  EXPECT_EQ(consumer.bytes_read(), 0U);
  if (listens == "clear") return;  // it takes the first peer, whoever that is
  EXPECT_TRUE(listener.running()) << listener.errors();
}

INSTANTIATE_TEST_SUITE_P(Of, LevelMismatch,
                         testing::Values(std::pair("private", "clear"), std::pair("clear", "private"),
                                         std::pair("private", "safe"), std::pair("safe", "auth"),
                                         std::pair("auth", "private")),
                         [](const auto& chosen) { return chosen.param.first + "_" + chosen.param.second; });

}  // namespace
}  // namespace udtcat::test::e2e
