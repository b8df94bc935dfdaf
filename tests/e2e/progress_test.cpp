// SPDX-License-Identifier: Apache-2.0
/// The line of progress: what moves, what is waited for, and an outage.
#include <csignal>
#include <regex>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr std::uint64_t kWatchedBytes = 12'000'000;

class ProgressLine : public UdtcatTest {
 protected:
  /// Whether a line like `pattern` is shown, now or soon.
  [[nodiscard]] static testing::AssertionResult shows(const Process& process, const std::string& pattern) {
    const std::regex wanted(pattern);
    if (eventually(patience(20s), [&] { return std::regex_search(process.errors(), wanted); }))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no " << pattern << " in " << process.errors();
  }
  [[nodiscard]] std::string here() const { return "127.0.0.1:" + std::to_string(port_); }

  const RandomFile file_{1, kWatchedBytes};
};

const std::string kOfTheFile = R"(\[ +\d+ %\] [\d.]+ [kM]B of 12\.0 MB  [\d.]+ [kM]B/s  0:\d\d left)";

TEST_F(ProgressLine, ShowsPerCentRateAndTimeLeftOfAFile) {
  const Process listener = listen();
  const Process connector =
      connect({.args = {"--progress", "--rate", "8M"}, .in = open_for_reading(file_.path())});  // a megabyte a second
  EXPECT_TRUE(shows(connector, kOfTheFile + R"(  RTT [\d.]+ ms)"));
}

TEST_F(ProgressLine, TakesTheSizeFromItsUserWhereItReceives) {
  const Process listener = listen({.args = {"--progress", "--size", "12MB"}});
  const Process connector = connect({.args = {"--rate", "8M"}, .in = open_for_reading(file_.path())});
  EXPECT_TRUE(shows(listener, kOfTheFile));
}

TEST_F(ProgressLine, SaysWhoIsWaitedFor) {
  const Process connector = connect({.args = {"--progress", "--connect-timeout", "20s"}});
  EXPECT_TRUE(shows(connector, "dialling " + here() + R"( \(0:0\d\))"));
  const Process listener = listen({.args = {"--progress"}, .key = make_key()});
  EXPECT_TRUE(shows(listener, "waiting for a peer on udp " + here() + " and tcp " + here() + R"( \(0:0\d\))"));
}

TEST_F(ProgressLine, SaysThatACommandHasNotEnded) {
  const Process listener = listen({.args = {"--progress", "--exec", "cat >/dev/null; sleep 60", "--recv-only"}});
  const Process connector = connect({.args = {"--progress"}, .in = open_for_reading(file_.path())});
  EXPECT_TRUE(shows(listener, R"(udtcat: waiting for 'cat >/dev/null; sleep 60' to end\n)"));
  EXPECT_TRUE(shows(connector, R"(\[100 %\] 12\.0 MB of 12\.0 MB  all read, waiting for the other end to take it)"));
}

TEST_F(ProgressLine, SaysInAnOutageHowLongItHasLastedAndWhenItIsGivenUp) {
  const Process listener = listen();
  const Process connector = connect({.args = {"--progress", "--rate", "8M"}, .in = open_for_reading(file_.path())});
  ASSERT_TRUE(shows(connector, R"(\[ +\d+ %\])"));
  listener.send_signal(SIGSTOP);
  EXPECT_TRUE(shows(connector, R"(no answer for [3-9] s, giving up at 40)"));
  listener.send_signal(SIGCONT);
}

}  // namespace
}  // namespace udtcat::test::e2e
