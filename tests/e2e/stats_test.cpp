// SPDX-License-Identifier: Apache-2.0
/// The figures of a transfer, for a user and for a program.
#include <csignal>

#include <nlohmann/json.hpp>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using nlohmann::json;

class Stats : public UdtcatTest {
 protected:
  /// The last line of stderr, as the object that it should be.
  [[nodiscard]] static json last_line(const Process& process) {
    const auto lines = process.error_lines();
    return lines.empty() ? json() : json::parse(lines.back(), nullptr, false);
  }
};

TEST_F(Stats, AsJsonHaveEveryField) {
  const RandomFile file(1, 3 * kMiB);
  Process listener = listen({.args = {"--stats", "json"}});
  Process connector = connect({.args = {"--stats", "json"}, .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  const json sent = last_line(connector);
  const json received = last_line(listener);
  ASSERT_TRUE(sent.is_object() && received.is_object()) << connector.errors() << listener.errors();
  EXPECT_EQ(sent.value("bytes_sent", 0U), 3 * kMiB);
  EXPECT_EQ(received.value("bytes_received", 0U), 3 * kMiB);
  for (const json& stats : {sent, received}) {
    for (const char* field : {"bytes_sent", "bytes_received", "seconds", "rate_bits_per_second", "rtt_us",
                              "packets_sent", "packets_lost", "packets_resent", "blocks_sent", "blocks_received",
                              "lanes", "threads", "flows", "cpu_seconds", "exit_status"}) {
      EXPECT_TRUE(stats.contains(field) && stats[field].is_number()) << field << " in " << stats;
    }
    EXPECT_EQ(stats.value("protection", ""), "private");
    EXPECT_FALSE(stats.value("cipher", "").empty()) << stats;
    EXPECT_FALSE(stats.value("exit_reason", "").empty()) << stats;
    EXPECT_TRUE(stats.contains("limited_by") && !stats.value("limited_by_text", "").empty()) << stats;
  }
}

TEST_F(Stats, AsJsonAreThereForAFailureToo) {
  Process process = connect({.args = {"--stats", "json"}});
  expect_exit(process, kUnreachable);
  const json stats = last_line(process);
  ASSERT_TRUE(stats.is_object()) << process.errors();
  EXPECT_EQ(stats.value("exit_status", 0), kUnreachable) << stats;
  EXPECT_FALSE(stats.value("exit_reason", "").empty()) << stats;
  EXPECT_TRUE(stats["transport"].is_null()) << "UDP and TCP were tried, and neither carried anything";
}

TEST_F(Stats, InOneLineAtTheEndSayHowMuchToWhoWantsToHear) {
  const RandomFile file(2, 3 * kMiB);
  Process listener = listen({.args = {"-v"}});
  Process connector = connect({.args = {"-v"}, .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(count_lines(connector, "3.15 MB"), 1) << connector.errors();
  EXPECT_EQ(count_lines(listener, "3.15 MB"), 1) << listener.errors();
}

TEST_F(Stats, OfWhatLimitedFollowAtTheEndToWhoAsksWhy) {
  const RandomFile file(3, 3 * kMiB);
  Process listener = listen();
  Process connector = connect({.args = {"--why"}, .in = open_for_reading(file.path())});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(count_lines(connector, "limit"), 1) << connector.errors();
  EXPECT_EQ(count_lines(listener, "limit"), 0) << listener.errors();
}

TEST_F(Stats, InOneLineFollowEachSigusr1) {
  TwoWay two_way(64, Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end());
  ASSERT_TRUE(two_way.both_received(64, kAtOnce)) << connector.errors() << listener.errors();
  const auto lines = connector.error_lines().size();
  for (std::size_t asked = 1; asked <= 3; ++asked) {
    connector.send_signal(SIGUSR1);
    EXPECT_TRUE(eventually(kAtOnce, [&] { return connector.error_lines().size() == lines + 2 * asked; }))
        << connector.errors();
  }
  EXPECT_TRUE(connector.running());
  EXPECT_EQ(count_lines(connector, "64 B"), 3) << connector.errors();
  EXPECT_EQ(count_lines(connector, "since it began, "), 1) << "why it is not faster";
  EXPECT_EQ(count_lines(connector, "over the last "), 2);
}

TEST_F(Stats, AreNotMixedIntoAStderrThatIsNoTerminal) {
  TwoWay two_way(scaled(16 * kMiB), Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end());
  Process connector = connect(two_way.connector.end());
  ASSERT_TRUE(two_way.both_received(scaled(16 * kMiB), kTransferLimit)) << connector.errors() << listener.errors();
  EXPECT_FALSE(connector.wait(2s));
  EXPECT_TRUE(connector.errors().empty()) << connector.errors();
}

}  // namespace
}  // namespace udtcat::test::e2e
