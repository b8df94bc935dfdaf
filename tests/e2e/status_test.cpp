// SPDX-License-Identifier: Apache-2.0
/// udtcat status, and figures while a process runs.
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

class StatusOf : public UdtcatTest {
 protected:
  [[nodiscard]] Ran status(Arguments more = {}) const {
    more.insert(more.begin(), {UDTCAT_BINARY, "status"});
    return run({.argv = std::move(more), .environment = {"XDG_RUNTIME_DIR=" + home_.path().string()}});
  }
  /// The object of a process, which may open its socket after its other ports; null where it does not answer.
  [[nodiscard]] json snapshot_of(const Process& process) const {
    EXPECT_TRUE(eventually(kAtOnce, [&] { return std::filesystem::exists(socket_of(process)); })) << process.errors();
    const Ran ran = status({"--json"});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    const json all = json::parse(ran.output, nullptr, false);
    for (const json& each : all)
      if (each.value("pid", 0) == process.pid()) return each;
    return nullptr;
  }
  [[nodiscard]] std::filesystem::path socket_of(const Process& process) const {
    return home_ / ("udtcat/" + std::to_string(process.pid()) + ".sock");
  }
  [[nodiscard]] static std::vector<json> figures(const Process& process) {
    std::vector<json> objects;
    for (const std::string& line : process.error_lines())
      if (line.starts_with('{')) objects.push_back(json::parse(line, nullptr, false));
    return objects;
  }
};

TEST_F(StatusOf, APipeUnderLoadSaysWhoAndHowFast) {
  TwoWay endless(scaled(4 * kGiB), Afterwards::keep_open, Begin::at_once);
  const Process listener = listen(endless.listener.end({"--peer", "web"}));
  const Process connector = connect(endless.connector.end({"--as", "web"}));
  ASSERT_TRUE(endless.both_received(scaled(64 * kMiB), kTransferLimit)) << connector.errors();
  const json snapshot = snapshot_of(listener);
  ASSERT_TRUE(snapshot.is_object());
  EXPECT_EQ(snapshot["what"], "udtcat -l 127.0.0.1:" + std::to_string(port_) + " --peer web");
  EXPECT_GT(snapshot["rate_bits_per_second"], 1'000'000U);
  ASSERT_EQ(snapshot["peers"].size(), 1U);
  EXPECT_GE(snapshot["peers"][0]["bytes_received"], scaled(64 * kMiB));
  EXPECT_EQ(snapshot["peers"][0]["streams_open"], 1U);
  EXPECT_TRUE(snapshot["peers"][0]["rtt_us"].is_number());
  EXPECT_TRUE(snapshot["peers"][0]["name"].is_null()) << "only a key pair gives a name";
}

TEST_F(StatusOf, AServiceSaysWhereItListensAndWhoWasRefused) {
  const Process service = listen({.args = {"--to", "127.0.0.1:9", "--name", "db"}});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return std::filesystem::exists(socket_of(service)); })) << service.errors();
  EXPECT_EQ(snapshot_of(service)["service"], "db");
  Process stranger = connect({.key = make_key()});
  expect_exit(stranger, kRefused);
  const Ran ran = status();
  EXPECT_THAT(ran.output, AllOf(HasSubstr("listening on udp 127.0.0.1:" + std::to_string(port_)), HasSubstr("0 peers"),
                                HasSubstr("refused 1: "), HasSubstr(" ago: 127.0.0.1:")))
      << ran.errors;
}

TEST_F(StatusOf, AForwardSaysWhatItForwards) {
  const std::uint16_t entrance = free_port();
  const Process to = listen({.args = {"--to", "127.0.0.1:9"}});
  const Process from = connect({.args = {"--from", std::to_string(entrance)}});
  ASSERT_TRUE(accepts_tcp(entrance, kAtOnce)) << from.errors() << to.errors();
  const json snapshot = snapshot_of(from);
  ASSERT_TRUE(snapshot.is_object());
  const std::string port = std::to_string(entrance);
  EXPECT_EQ(snapshot["forwarding"], json::array({"tcp 127.0.0.1:" + port, "tcp [::1]:" + port})) << "as with ssh -L";
  EXPECT_EQ(snapshot["peers"][0]["address"], "127.0.0.1:" + std::to_string(port_));
}

TEST_F(StatusOf, AForwardSaysWhomItDialsInVainAndWhy) {
  const std::uint16_t entrance = free_port();
  const Process from = connect({.args = {"--from", std::to_string(entrance)}});
  ASSERT_TRUE(accepts_tcp(entrance, kAtOnce)) << from.errors();
  EXPECT_TRUE(eventually(patience(10s), [&] {
    const json snapshot = snapshot_of(from);
    return snapshot.is_object() && snapshot["dialling"].is_object() && snapshot["dialling"]["reason"].is_string();
  })) << from.errors();
  EXPECT_THAT(status().output, AllOf(HasSubstr("  dialling 127.0.0.1:" + std::to_string(port_) + " for 0:"),
                                     HasSubstr("nobody listens on that UDP port")));
  const Process to = listen({.args = {"--to", "127.0.0.1:9"}});
  EXPECT_TRUE(eventually(patience(20s), [&] { return snapshot_of(from)["dialling"].is_null(); })) << from.errors();
}

TEST_F(StatusOf, NobodyIsSaidToBeNobody) {
  // Root is told of all users' programs, of which one that another test has may be too busy to answer.
  Ran ran;
  EXPECT_TRUE(eventually(patience(20s), [&] {
    ran = status();
    return ran.errors.find("no answer in time") == std::string::npos;
  })) << ran.errors;
  EXPECT_EQ(ran.status, kSuccess);
  if (ran.output.empty()) {
    EXPECT_THAT(ran.errors, HasSubstr("is in service on this host"));
  }
}

TEST_F(StatusOf, ADirectoryThatIsServedSaysWhoReadsIt) {
  const Process server = udtcat({"gridftp", "serve", "--root", ".", "-l", "127.0.0.1:" + std::to_string(port_)});
  ASSERT_TRUE(accepts_tcp(port_, kAtOnce)) << server.errors();
  const TcpClient client(port_, kAtOnce);
  ASSERT_EQ(client.receive(4), "220 ");
  EXPECT_TRUE(eventually(kAtOnce, [&] {
    const json snapshot = snapshot_of(server);
    return snapshot.is_object() && snapshot["peers"].size() == 1 && snapshot["listening"].size() == 1;
  })) << status().output;
}

TEST_F(StatusOf, AProcessThatEndedIsNotShownAndLeavesNothing) {
  Process ended = listen();
  Process killed = udtcat({"-l", "127.0.0.1:" + std::to_string(free_port())}, {.key = key_});
  ASSERT_TRUE(eventually(kAtOnce, [&] {
    return std::filesystem::exists(socket_of(ended)) && std::filesystem::exists(socket_of(killed));
  }));
  ended.send_signal(SIGTERM);
  expect_exit(ended, kTerminated);
  EXPECT_FALSE(std::filesystem::exists(socket_of(ended)));
  killed.send_signal(SIGKILL);
  ASSERT_TRUE(killed.wait(kAtOnce));
  EXPECT_TRUE(snapshot_of(killed).is_null());
  EXPECT_FALSE(std::filesystem::exists(socket_of(killed))) << "a socket left over is removed by who finds it";
}

TEST_F(StatusOf, AProcessThatHangsIsNotWaitedForLong) {
  const Process hung = listen();
  ASSERT_TRUE(eventually(kAtOnce, [&] { return status().output.find("(pid ") != std::string::npos; }));
  hung.send_signal(SIGSTOP);
  const auto start = Clock::now();
  const Ran ran = status();
  EXPECT_EQ(ran.status, kSuccess);
  EXPECT_LT(Clock::now() - start, patience(4s));
  EXPECT_THAT(ran.errors, HasSubstr("no answer in time"));
  hung.send_signal(SIGCONT);
}

TEST_F(StatusOf, AProcessWithoutAPlaceForASocketRunsAsEver) {
  const std::string nowhere = "RUNTIME_DIRECTORY=" + (home_ / "none" / "such").string();
  const RandomFile file(1, 1000);
  Process listener = listen({.environment = {nowhere}});
  Process connector = connect({.in = open_for_reading(file.path()), .environment = {nowhere}});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(connector.errors(), "");
  EXPECT_EQ(listener.error_lines().size(), 1U) << "its transfer: " << listener.errors();
}

TEST_F(StatusOf, StatusHasNoOtherWords) {
  const Ran ran = status({"now"});
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.errors, HasSubstr("status \"now\""));
}

TEST_F(StatusOf, FiguresComeEachIntervalAndTheLastLineStaysTheLast) {
  TwoWay slow(scaled(kGiB), Afterwards::keep_open, Begin::at_once);
  Process listener = listen(slow.listener.end({"--stats", "json:100ms"}));
  const Process connector = connect(slow.connector.end());
  ASSERT_TRUE(eventually(kTransferLimit, [&] {
    const auto lines = figures(listener);
    return lines.size() > 3 && lines.back()["peers"].size() == 1 && lines.back()["rate_bits_per_second"] > 1'000'000U;
  })) << listener.errors();
  const json line = figures(listener).back();
  for (const char* key : {"version", "what", "pid", "seconds", "listening", "forwarding", "bytes_sent",
                          "bytes_received", "rate_bits_per_second", "streams_open", "packets_sent", "packets_lost",
                          "cpu_seconds", "clients_waiting", "dialling", "peers_left_out", "peers", "refused"})
    EXPECT_TRUE(line.contains(key)) << key;
  for (const char* key :
       {"number", "name", "address", "seconds", "bytes_sent", "bytes_received", "rate_bits_per_second", "streams_open",
        "packets_sent", "packets_lost", "rtt_us", "silent_seconds"})
    EXPECT_TRUE(line["peers"][0].contains(key)) << key;
  listener.send_signal(SIGTERM);
  expect_exit(listener, kTerminated);
  EXPECT_EQ(figures(listener).back().value("exit_status", 0), kTerminated);
}

}  // namespace
}  // namespace udtcat::test::e2e
