// SPDX-License-Identifier: Apache-2.0
/// src/bench: udtcat bench, and the two ends that serve it.
#include <csignal>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "e2e/support/rsh_test.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Its text on stdout.
json parsed(const std::string& output) { return json::parse(output, nullptr, false); }

void expect_measured(const json& report) {
  ASSERT_TRUE(report.is_object());
  EXPECT_GT(report["rtt_us"], 0);
  for (const char* way : {"out", "back"}) {
    ASSERT_TRUE(report[way].is_object()) << way;
    EXPECT_GT(report[way]["rate_bits_per_second"], 1'000'000) << report;
    EXPECT_GT(report[way]["here"]["cpu_seconds"], 0);
    EXPECT_GT(report[way]["there"]["cpu_seconds"], 0);
    EXPECT_FALSE(report[way]["limited_by_text"].get<std::string>().empty());
  }
}

class BenchCommand : public UdtcatTest {
 protected:
  [[nodiscard]] std::string out() const { return (home_ / "out").string(); }
  [[nodiscard]] Descriptor to_file() const {
    return Descriptor(::open(out().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  }
  [[nodiscard]] Process bench(Arguments args, std::optional<std::string> key = std::nullopt) const {
    return udtcat({"bench", host_, std::to_string(port_)},
                  {.args = std::move(args), .out = to_file(), .key = key.value_or(key_)});
  }
  [[nodiscard]] std::string printed() const { return read_file(out()); }
};

TEST_F(BenchCommand, MeasuresBothWaysAndLeavesThePipeToItsPeer) {
  const RandomFile file(1, kMiB);
  Consumer consumer;
  Process listener = listen({.args = {"--recv-only", "-v"}, .out = consumer.take_stdout()});
  for (int i = 0; i < 2; ++i) {
    Process measuring = bench({"--seconds", "1", "--json"});
    expect_exit(measuring, kSuccess);
    expect_measured(parsed(printed()));
  }
  EXPECT_EQ(consumer.bytes_read(), 0U);
  ASSERT_TRUE(listener.running());
  Process sender = connect({.in = open_for_reading(file.path())});
  expect_exit(sender, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), file.digest());
}

TEST_F(BenchCommand, SaysItOnOneScreenToPeople) {
  Process listener = listen();
  Process measuring = bench({"--seconds", "1"});
  expect_exit(measuring, kSuccess);
  EXPECT_THAT(printed(), testing::MatchesRegex("udtcat bench: 127.0.0.1:[0-9]+, round trip [^\n]*private[^\n]*\n"
                                               "[^\n]*rate[^\n]*\n"
                                               "out [^\n]*bit/s[^\n]*MB/s[^\n]*\n"
                                               "back [^\n]*bit/s[^\n]*MB/s[^\n]*\n"
                                               "out:  [^\n]+\n"
                                               "back: [^\n]+\n"
                                               "(\\(rate: [^\n]+\\)\n)?"));  // where the two rates are far apart
}

TEST_F(BenchCommand, WantsTheKey) {
  Process listener = listen();
  Process stranger = bench({"--seconds", "1"}, make_key());
  expect_exit(stranger, kRefused);
  EXPECT_EQ(printed(), "");
  EXPECT_TRUE(listener.running());
}

TEST_F(BenchCommand, IsNotServedByAForward) {
  Process listener = listen({.args = {"--to", "127.0.0.1:1"}});
  Process measuring = bench({"--seconds", "1"});
  expect_exit(measuring, kRefused);
  expect_says(measuring, "the connector is for bench, which dials udtcat -l PORT");
}

TEST_F(BenchCommand, PrintsWhatItHasWhenItIsInterrupted) {
  Process listener = listen({.args = {"-v"}});
  Process measuring = bench({"--seconds", "60", "--json"});
  ASSERT_TRUE(eventually(patience(std::chrono::seconds(20)), [&] { return count_lines(listener, "a bench for") == 1; }))
      << listener.errors();
  let_pass(std::chrono::seconds(2));
  measuring.send_signal(SIGINT);
  expect_exit(measuring, kInterrupted);
  const json report = parsed(printed());
  ASSERT_TRUE(report.is_object()) << printed();
  EXPECT_GT(report["rtt_us"], 0);
  EXPECT_TRUE(report["back"].is_null()) << "the way there had a minute";
  EXPECT_TRUE(listener.running());
}

TEST_F(BenchCommand, FailsAndSaysSoWhenTheOtherEndIsKilled) {
  Process listener = listen({.args = {"-v"}});
  Process measuring = bench({"--seconds", "60"});
  ASSERT_TRUE(
      eventually(patience(std::chrono::seconds(20)), [&] { return count_lines(listener, "a bench for") == 1; }));
  listener.send_signal(SIGTERM);
  expect_exit(measuring, kPeerLost);
}

class BenchOfKeyPairs : public BenchCommand {
 protected:
  std::string make_pair(const std::string& name) const {
    const Ran ran = run({.argv = {UDTCAT_BINARY, "keygen", "--pair", file(name)}});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    return ran.output.substr(0, ran.output.find('\n'));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (home_ / name).string(); }
  void expect_served(const std::string& purposes, int of_bench, int of_pipe) {
    home_.write("peers", "alice " + alice_ + " " + purposes + "\n");
    Process listener = listen({.args = {"-k", file("server"), "--peers", file("peers"), "-v"}, .key = ""});
    Process measuring = bench({"--seconds", "1", "-k", file("alice"), "--peer", server_}, "");
    expect_exit(measuring, of_bench);
    Process pipe = connect({.args = {"-k", file("alice"), "--peer", server_}, .key = ""});
    expect_exit(pipe, of_pipe);
  }
  const std::string server_ = make_pair("server");
  const std::string alice_ = make_pair("alice");
};

TEST_F(BenchOfKeyPairs, IsServedToThoseWhoseLineHasIt) {
  expect_served("pipe,bench", kSuccess, kSuccess);
  expect_served("", kSuccess, kSuccess);
}

TEST_F(BenchOfKeyPairs, IsRefusedToThoseWhoseLineHasItNot) { expect_served("pipe", kRefused, kSuccess); }

TEST_F(BenchOfKeyPairs, LetsNobodyIntoThePipeWhoMayOnlyMeasure) { expect_served("bench", kSuccess, kRefused); }

class BenchOfAPath : public BenchCommand {
 protected:
  void SetUp() override {
    if (::access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "/dev/net/tun is not ours to use";
  }
  [[nodiscard]] json measured(Arguments link) const {
    const std::string key = "UDTCAT_KEY=" + key_;
    Arguments words = {UDTCAT_WANLAB_BINARY, "--quiet"};
    words.insert(words.end(), link.begin(), link.end());
    words.insert(words.end(), {"--far", std::string("exec ") + UDTCAT_BINARY + " -l 9000 > /dev/null", "--", "sh", "-c",
                               std::string("exec ") + UDTCAT_BINARY + " bench $WANLAB_FAR4 9000 --seconds 3 --json"});
    const Ran ran = run(
        {.argv = words, .environment = {"WANLAB_DIR=" + home_.path().string(), key, "HOME=" + home_.path().string()}});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    return parsed(ran.output);
  }
};

TEST_F(BenchOfAPath, FindsItsRateItsRoundTripAndItsLoss_Serial) {
  const json report = measured({"--rate", "20M", "--rtt", "50ms", "--loss", "1%"});
  expect_measured(report);
  EXPECT_GE(report["least_rtt_us"], 49'000);
  EXPECT_LE(report["least_rtt_us"], 60'000);
  for (const char* way : {"out", "back"}) {
    EXPECT_LE(report[way]["rate_bits_per_second"], 20'500'000) << report;
    EXPECT_GE(report[way]["rate_bits_per_second"], 8'000'000) << report;
    EXPECT_GE(report[way]["share_lost"], 0.003) << report;
    EXPECT_LE(report[way]["share_lost"], 0.1) << report;
    EXPECT_GE(report[way]["loaded_rtt_us"], 49'000) << report;
  }
}

TEST_F(BenchOfAPath, FindsThatPacketsOvertakeEachOther_Serial) {
  const Arguments link{"--rate", "20M", "--rtt", "20ms"};
  Arguments reordering = link;
  reordering.insert(reordering.end(), {"--reorder", "2%", "--reorder-delay", "3ms"});
  const json straight = measured(link);
  const json mixed = measured(reordering);
  expect_measured(mixed);
  for (const char* way : {"out", "back"}) {
    EXPECT_EQ(straight[way]["packets_late"], 0) << straight;
    EXPECT_GE(mixed[way]["share_late"], 0.002) << mixed;
    EXPECT_LE(mixed[way]["share_late"], 0.08) << mixed;
  }
}

class BenchBySsh : public RshTest {};

TEST_F(BenchBySsh, StartsTheOtherEndByItself) {
  const Ran ran = near(std::string(UDTCAT_BINARY) + " bench --ssh \"ssh -F $CONFIG\" --remote-udtcat " + UDTCAT_BINARY +
                       " --seconds 1 --json far");
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  expect_measured(parsed(ran.output));
}

TEST_F(BenchBySsh, SaysWhichPortWasTriedWhereUdpIsBlocked) {
  block_all_but_ssh();
  const Ran ran = near(std::string(UDTCAT_BINARY) + " bench --ssh \"ssh -F $CONFIG\" --remote-udtcat " + UDTCAT_BINARY +
                       " --seconds 1 far");
  EXPECT_EQ(ran.status, kUnreachable);
  EXPECT_THAT(ran.errors, HasSubstr("by UDP within"));
  EXPECT_EQ(ran.output, "");
}

}  // namespace
}  // namespace udtcat::test::e2e
