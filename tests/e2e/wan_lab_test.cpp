// SPDX-License-Identifier: Apache-2.0
/// bench/wan/wanlab, the emulated path that benchmarks and tests stand on: it is what it says, and leaves nothing
/// behind.
#include <csignal>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr auto kLab = UDTCAT_WANLAB_BINARY;
constexpr auto kProbe = UDTCAT_WANPROBE_BINARY;

class WanLab : public testing::Test {
 protected:
  void SetUp() override {
    if (::access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "/dev/net/tun is not ours to use";
  }
  [[nodiscard]] Command lab(Arguments arguments) const {
    arguments.insert(arguments.begin(), kLab);
    return {.argv = std::move(arguments), .environment = {"WANLAB_DIR=" + home_.path().string()}};
  }
  /// Both ends run the probe; what it says at the near end. The two share a stdout, so the far one is kept quiet.
  [[nodiscard]] nlohmann::json probe(Arguments options, const std::string& near, const std::string& far) const {
    options.insert(options.end(), {"--quiet", "--far", std::string(kProbe) + " " + far + " > /dev/null", "--", "sh",
                                   "-c", std::string("exec ") + kProbe + " " + near});
    const Ran ran = run(lab(std::move(options)));
    EXPECT_EQ(ran.status, 0) << ran.errors;
    return nlohmann::json::parse(ran.output, nullptr, false);
  }
  /// Runs `script` at the near end, where $lab and $probe are the programs; its output.
  [[nodiscard]] Ran script(const std::string& text, const std::string& far = "true") const {
    const std::string words = std::string("lab=") + kLab + " probe=" + kProbe + "; " + text;
    return run(lab({"--quiet", "--far", far, "--", "sh", "-c", words}));
  }

  TempDir home_;
};

TEST_F(WanLab, HasTheRoundTripThatItSays_Serial) {
  for (const char* address : {"10.77.0.2", "fd77::2"}) {
    const auto seen = probe({"--rtt", "100ms"}, std::string("rtt ") + address + " 5000 20", "echo 5000");
    ASSERT_TRUE(seen.is_object());
    EXPECT_EQ(seen["answers"], 20);
    EXPECT_GE(seen["min_ms"], 98);
    EXPECT_LE(seen["min_ms"], 102) << "the rest of a busy machine's round trips is not the lab's";
  }
}

TEST_F(WanLab, CarriesTheRateThatItSays_Serial) {
  const auto seen = probe({"--rate", "20M", "--rtt", "10ms"}, "count 5000", "blast 10.77.0.1 5000 40e6 4 1472");
  ASSERT_TRUE(seen.is_object());
  EXPECT_NEAR(seen["ip_bits_per_second"].get<double>(), 20e6, 0.03 * 20e6);
  EXPECT_GT(seen["missing"], 0) << "twice the rate was offered";
}

TEST_F(WanLab, CutsTcpSuperPacketsWithoutHarmToTheirBytes) {
  constexpr std::uint64_t kSentBytes = 50'000'000;
  for (const char* address : {"10.77.0.1", "fd77::1"}) {
    const auto seen =
        probe({"--rtt", "4ms", "--rate", "1G", "--loss", "0.5%", "--reorder", "0.5%", "--reorder-delay", "1ms",
               "--duplicate", "0.5%"},
              "tcp-receive 5000", std::string("tcp-send ") + address + " 5000 " + std::to_string(kSentBytes));
    ASSERT_TRUE(seen.is_object());
    EXPECT_EQ(seen["received"], kSentBytes);
    EXPECT_EQ(seen["corrupt"], 0);
  }
}

TEST_F(WanLab, BreaksAndMendsTheLinkOnRequest) {
  const Ran ran = script(
      "$probe rtt $WANLAB_FAR4 5000 1 && $lab tell outage on && $probe blast $WANLAB_FAR4 5000 1e6 0.2 100 && "
      "$lab tell outage off && $probe rtt $WANLAB_FAR4 5000 1 && $lab tell stats",
      std::string(kProbe) + " echo 5000");
  ASSERT_EQ(ran.status, 0) << ran.output << ran.errors;
  const auto stats = nlohmann::json::parse(ran.output.substr(ran.output.rfind("{\"out\"")), nullptr, false);
  ASSERT_TRUE(stats.is_object()) << ran.output;
  EXPECT_GT(stats["out"]["blacked_out"], 100);
}

TEST_F(WanLab, CutsOneOfItsPathsOnRequest) {
  // Of sixteen flows each path has some: that it has none is one chance in 65536.
  const std::string blast =
      "for i in $(seq 16); do $probe blast $WANLAB_FAR4 5000 1e5 0.1 100 > /dev/null & done; wait; ";
  const std::string words = std::string("set -e; lab=") + kLab + " probe=" + kProbe +
                            "; $probe rtt $WANLAB_FAR4 5000 1; " + "$lab tell outage on 2; " + blast +
                            "$lab tell stats; $lab tell outage off 2; " + blast +
                            "$lab tell stats; ! $lab tell outage on 3";
  const Ran ran =
      run(lab({"--quiet", "--paths", "2", "--far", std::string(kProbe) + " echo 5000", "--", "sh", "-c", words}));
  ASSERT_EQ(ran.status, 0) << ran.output << ran.errors;
  std::vector<nlohmann::json> stats;
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("{\"out\"")) stats.push_back(nlohmann::json::parse(line, nullptr, false));
  ASSERT_EQ(stats.size(), 2U) << ran.output;
  const auto& cut = stats[0];
  const auto& whole = stats[1];
  ASSERT_TRUE(cut.is_object() && whole.is_object()) << ran.output;
  EXPECT_GT(cut["paths"][1]["out"]["blacked_out"], 0);
  EXPECT_LE(cut["paths"][1]["back"]["segments"], 1) << "the one before it was cut";
  EXPECT_GT(cut["paths"][0]["out"]["segments"], 0);
  EXPECT_EQ(cut["paths"][0]["out"]["blacked_out"], 0);
  EXPECT_EQ(whole["paths"][1]["out"]["blacked_out"], cut["paths"][1]["out"]["blacked_out"]);
  EXPECT_GT(whole["paths"][1]["out"]["segments"], cut["paths"][1]["out"]["segments"]);
  EXPECT_NE(ran.errors.find("path \"3\": allowed: a number from 1 to 2"), std::string::npos) << ran.errors;
}

TEST_F(WanLab, PolicesEachFlowByItself_Serial) {
  const std::string count = std::string(kProbe) + " count 5000 > " + (home_.path() / "first").string() + " & " +
                            kProbe + " count 5001; wait; cat " + (home_.path() / "first").string();
  const std::string blast =
      std::string(kProbe) + " blast 10.77.0.1 5000 15e6 3 1472 & " + kProbe + " blast 10.77.0.1 5001 15e6 3 1472; wait";
  const Ran ran = run(lab({"--per-flow-rate", "0/10M", "--per-flow-burst", "30kB", "--quiet", "--far",
                           "(" + blast + ") > /dev/null", "--", "sh", "-c", count}));
  ASSERT_EQ(ran.status, 0) << ran.errors;
  std::istringstream lines(ran.output);
  int flows = 0;
  for (std::string line; std::getline(lines, line); ++flows) {
    const auto seen = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(seen.is_object()) << line;
    EXPECT_NEAR(seen["ip_bits_per_second"].get<double>(), 10e6, 0.03 * 10e6);
  }
  EXPECT_EQ(flows, 2);
}

TEST_F(WanLab, FindsATraceFromTheDirectoryOfTheOneThatTellsIt) {
  const Ran ran =
      script("cd " + home_.path().string() +
             " && echo 1 > walk && $lab tell set trace walk, && echo 1x > bad && ! $lab tell set trace bad");
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  EXPECT_NE(ran.errors.find("/bad\": line 1: \"1x\""), std::string::npos) << ran.errors;
}

TEST_F(WanLab, ChangesAnAddressOnRequest) {
  const Ran ran = script("$lab tell address near && ip -o addr show wan0 && $probe rtt $WANLAB_FAR4 5000 1",
                         std::string(kProbe) + " echo 5000");
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  EXPECT_NE(ran.output.find("10.77.0.3/24"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("10.77.0.1/24"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("fd77::3/64"), std::string::npos) << ran.output;
}

TEST_F(WanLab, MayUseItsIpv6AddressesAtOnce) {
  // A tentative address is passed over by connect(), which then takes the link's own and is never answered.
  const Ran ran = script("ip -o -6 addr show wan0 && $lab tell address near && ip -o -6 addr show wan0");
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  for (const char* address : {"fd77::1/64 scope global nodad", "fd77::3/64 scope global nodad"})
    EXPECT_NE(ran.output.find(address), std::string::npos) << address << " is not in\n" << ran.output;
}

TEST_F(WanLab, ReturnsTheStatusOfItsCommand) { EXPECT_EQ(script("exit 42").status, 42); }

TEST_F(WanLab, SaysInItsHelpHowItIsCalled) {
  const Ran ran = run(lab({"--help"}));
  EXPECT_EQ(ran.status, 0);
  for (const char* form :
       {"wanlab [options] [--far", "wanlab [options] --hold", "wanlab on near|far", "wanlab tell", "wanlab --clean"})
    EXPECT_NE(ran.output.find(form), std::string::npos) << form << " is not in\n" << ran.output;
}

TEST_F(WanLab, ExplainsABadValue) {
  const auto refuses = [this](Arguments options, const std::string& why) {
    options.insert(options.end(), {"--", "true"});
    const Ran ran = run(lab(std::move(options)));
    EXPECT_EQ(ran.status, 2);
    EXPECT_NE(ran.errors.find(why), std::string::npos) << ran.errors;
  };
  refuses({"--loss", "5"}, "share \"5\": allowed");
  refuses({"--per-flow-rate", "1GB"}, "\"1GB\"");
  refuses({"--paths", "2", "--path", "3:loss=5%"}, "path \"3\": allowed: a number from 1 to 2");
  refuses({"--path", "loss=5%"}, "setting of a path \"loss=5%\": allowed");
}

/// A lab with a program at each end that outlives whoever started it.
class WanLabsEnd : public WanLab {
 protected:
  void SetUp() override {
    WanLab::SetUp();
    if (IsSkipped()) return;
    const std::string linger =
        "setsid sleep 1000 & readlink /proc/self/ns/net > $0; echo $$ > $0.pid; "
        "echo done > $0.ready; ";
    process_.emplace(lab({"--quiet", "--far", "exec sh -c '" + linger + "sleep 1000' " + file("far"), "--", "sh", "-c",
                          linger + "sleep 1000", file("near")}));
    ASSERT_TRUE(eventually(kAtOnce, [&] { return exists("near.ready") && exists("far.ready"); })) << process_->errors();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (home_.path() / name).string(); }
  [[nodiscard]] bool exists(const std::string& name) const { return ::access(file(name).c_str(), F_OK) == 0; }
  /// How many processes live in the namespaces of the two ends.
  [[nodiscard]] int inhabitants() const {
    return std::stoi(run({.argv = {"sh", "-c",
                                   "ls -l /proc/[0-9]*/ns/net 2>/dev/null | grep -cF -e \"$(cat " + file("near") +
                                       ")\" -e \"$(cat " + file("far") + ")\"; true"}})
                         .output);
  }
  void expect_nothing_left() const {
    EXPECT_EQ(inhabitants(), 0);
    for (const auto& entry : std::filesystem::directory_iterator(home_.path()))
      EXPECT_TRUE(entry.path().extension() != ".json" && entry.path().extension() != ".sock") << entry.path();
  }

  std::optional<Process> process_;
};

TEST_F(WanLabsEnd, BySignalLeavesNothing) {
  ASSERT_GE(inhabitants(), 4);
  process_->send_signal(SIGINT);
  expect_exit(*process_, kInterrupted, kAtOnce);
  expect_nothing_left();
}

TEST_F(WanLabsEnd, ByItsCommandLeavesNothing) {
  ::kill(std::stoi(run({.argv = {"cat", file("near.pid")}}).output), SIGTERM);
  expect_exit(*process_, kTerminated, kAtOnce);
  expect_nothing_left();
}

TEST_F(WanLabsEnd, ByForceIsMendedByClean) {
  process_->send_signal(SIGKILL);
  expect_exit(*process_, 128 + SIGKILL, kAtOnce);
  EXPECT_GE(inhabitants(), 2) << "the test should leave something to clean";
  const Ran cleaned = run(lab({"--clean"}));
  EXPECT_EQ(cleaned.status, 0);
  EXPECT_NE(cleaned.errors.find("cleaned up"), std::string::npos) << cleaned.errors;
  expect_nothing_left();
}

}  // namespace
}  // namespace udtcat::test::e2e
