// SPDX-License-Identifier: Apache-2.0
/// Metrics by HTTP and by udtcat status, its checks, and the group that may ask: as a monitoring system sees them.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include <gmock/gmock.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::Not;
using testing::StartsWith;

constexpr std::size_t kMostOfAnAnswer = 16 * kMiB;

/// The families that every process has.
const std::set<std::string> kOfAll{
    "udtcat_build_info",       "udtcat_start_time_seconds",      "udtcat_cpu_seconds_total",
    "udtcat_open_descriptors", "udtcat_resident_memory_bytes",   "udtcat_max_descriptors",
    "udtcat_clients_waiting",  "udtcat_dropped_datagrams_total",
};
/// And those that it has once there was a peer.
const std::set<std::string> kOfPeers{
    "udtcat_stream_bytes_total", "udtcat_sessions",           "udtcat_handshakes_total",      "udtcat_streams_open",
    "udtcat_packets_sent_total", "udtcat_packets_lost_total", "udtcat_rate_bytes_per_second",
};
const std::set<std::string> kOfTransfers{"udtcat_transfers_total", "udtcat_transfer_bytes_total",
                                         "udtcat_transfer_files_total", "udtcat_last_complete_timestamp_seconds"};

std::set<std::string> all_of(std::initializer_list<std::set<std::string>> parts) {
  std::set<std::string> all;
  for (const auto& part : parts) all.insert(part.begin(), part.end());
  return all;
}

/// The series of an answer.
struct Scraped {
  std::string text;
  std::map<std::string, double> series;  ///< by their names and labels, as written

  [[nodiscard]] std::set<std::string> families() const {
    std::set<std::string> names;
    for (const auto& [name, value] : series) names.insert(name.substr(0, name.find('{')));
    return names;
  }
  [[nodiscard]] double at(const std::string& name) const {
    const auto found = series.find(name);
    EXPECT_NE(found, series.end()) << name << " is not in\n" << text;
    return found == series.end() ? -1 : found->second;
  }
};

Scraped parsed(std::string text) {
  Scraped scraped{std::move(text), {}};
  std::istringstream in(scraped.text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#') || line.empty()) continue;
    const auto space = line.rfind(' ');
    EXPECT_TRUE(scraped.series.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second) << line;
  }
  return scraped;
}

/// No counter of `before` is less in `after`, or gone.
void expect_grown(const Scraped& before, const Scraped& after) {
  for (const auto& [name, value] : before.series)
    if (name.find("_total{") != std::string::npos) {
      EXPECT_GE(after.at(name), value) << name;
    }
}

class MetricsOf : public UdtcatTest {
 protected:
  [[nodiscard]] static std::string request(const std::string& more = "") {
    return "GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
  }
  /// All of an answer; empty: nobody is there.
  [[nodiscard]] static std::string asked(std::uint16_t port, const std::string& words) {
    const TcpClient client(port, patience(20s));
    if (!client.connected() || !client.send(words)) return {};
    return client.receive(kMostOfAnAnswer);
  }
  [[nodiscard]] static Scraped scrape(std::uint16_t port, const std::string& more = "") {
    std::string answer;
    EXPECT_TRUE(eventually(kAtOnce, [&] { return !(answer = asked(port, request(more))).empty(); }));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    return parsed(answer.substr(answer.find("\r\n\r\n") + 4));
  }
  [[nodiscard]] Scraped scrape() const { return scrape(metrics_); }
  [[nodiscard]] Arguments served(Arguments more = {}) const {
    more.insert(more.end(), {"--metrics", std::to_string(metrics_)});
    return more;
  }
  [[nodiscard]] Ran status(Arguments more) const {
    more.insert(more.begin(), {UDTCAT_BINARY, "status"});
    return run({.argv = std::move(more), .environment = {"XDG_RUNTIME_DIR=" + home_.path().string()}});
  }
  [[nodiscard]] json snapshot_of(const Process& process) const {
    const json all = json::parse(status({"--json"}).output, nullptr, false);
    for (const json& each : all)
      if (each.value("pid", 0) == process.pid()) return each;
    return nullptr;
  }
  [[nodiscard]] std::string make_pair(const std::string& name) const {
    const Ran ran = run({.argv = {UDTCAT_BINARY, "keygen", "--pair", (home_ / name).string()}});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    return ran.output.substr(0, ran.output.find('\n'));
  }

  const std::uint16_t metrics_ = free_port();
};

TEST_F(MetricsOf, AMirrorCountTransfersByTheNamesOfPeers) {
  const std::string server = make_pair("server");
  home_.write("peers", "alice " + make_pair("alice") + "\n");
  home_.write("file", std::string(100'000, '1'));
  const std::string at = "127.0.0.1:" + std::to_string(port_);
  Process listener = udtcat(
      {"receive", "-l", at, "dst"},
      {.args = served({"-k", (home_ / "server").string(), "--peers", (home_ / "peers").string(), "--name", "mirror"})});
  const Scraped bare = scrape();
  EXPECT_EQ(bare.families(), kOfAll) << bare.text;
  const auto send = [&](const std::string& path, int expected) {
    Process sender = udtcat({"send", path, "127.0.0.1", std::to_string(port_)},
                            {.args = {"-k", (home_ / "alice").string(), "--peer", server}});
    expect_exit(sender, expected);
  };
  send("file", kSuccess);
  const std::string peer = R"({service="mirror",peer="alice")";
  Scraped first;
  ASSERT_TRUE(eventually(kAtOnce, [&] {
    first = scrape();
    return first.series.contains("udtcat_sessions" + peer + "}") && first.at("udtcat_sessions" + peer + "}") == 0;
  })) << first.text;
  EXPECT_EQ(first.families(), all_of({kOfAll, kOfPeers, kOfTransfers})) << first.text;
  EXPECT_EQ(first.at("udtcat_handshakes_total" + peer + "}"), 1);
  EXPECT_EQ(first.at("udtcat_transfers_total" + peer + R"(,direction="received",result="complete"})"), 1);
  EXPECT_EQ(first.at("udtcat_transfers_total" + peer + R"(,direction="received",result="failed"})"), 0);
  EXPECT_EQ(first.at("udtcat_transfer_files_total" + peer + R"(,direction="received"})"), 1);
  EXPECT_EQ(first.at("udtcat_transfer_bytes_total" + peer + R"(,direction="received"})"), 100'000);
  EXPECT_GT(first.at("udtcat_stream_bytes_total" + peer + R"(,direction="received"})"), 100'000);
  home_.write("more", std::string(50'000, '2'));
  send("more", kSuccess);
  Process stranger = udtcat({"send", "file", "127.0.0.1", std::to_string(port_)}, {.key = make_key()});
  expect_exit(stranger, kRefused);
  Scraped second;
  ASSERT_TRUE(eventually(kAtOnce, [&] {
    second = scrape();
    return second.at("udtcat_handshakes_total" + peer + "}") == 2 && second.at("udtcat_sessions" + peer + "}") == 0;
  })) << second.text;
  expect_grown(first, second);
  EXPECT_EQ(second.at("udtcat_transfers_total" + peer + R"(,direction="received",result="complete"})"), 2);
  EXPECT_TRUE(second.families().contains("udtcat_refusals_total")) << second.text;
  const Ran well = status({"--check", "mirror"});
  EXPECT_EQ(well.status, 1) << well.output << "a stranger was refused";
  EXPECT_THAT(well.output, AllOf(StartsWith("WARNING - mirror: refused 1 peer, "), HasSubstr(" | sessions=0;")));
  EXPECT_TRUE(listener.running());
}

TEST_F(MetricsOf, AForwardSayWhetherItsPeerIsThereAndOnlyGrow) {
  const std::uint16_t entrance = free_port();
  const std::uint16_t far_metrics = free_port();
  std::optional<Process> far(
      listen({.args = {"--to", "127.0.0.1:9", "--name", "far", "--metrics", std::to_string(far_metrics)}}));
  const Process near = connect({.args = served({"--from", std::to_string(entrance), "--name", "near"})});
  Scraped there;
  ASSERT_TRUE(eventually(patience(20s), [&] {
    there = scrape();
    return there.series.contains(R"(udtcat_sessions{service="near",peer=""})");
  })) << near.errors();
  EXPECT_EQ(there.at(R"(udtcat_dialling_seconds{service="near"})"), 0);
  EXPECT_GE(there.at(R"(udtcat_redials_total{service="near"})"), 0);
  EXPECT_EQ(there.at(R"(udtcat_sessions{service="near",peer=""})"), 1);
  const Scraped other_end = scrape(far_metrics);
  EXPECT_EQ(other_end.at(R"(udtcat_sessions{service="far",peer=""})"), 1);
  for (const char* absent : {"udtcat_redials_total", "udtcat_dialling_seconds", "udtcat_meeting_pairs"})
    EXPECT_FALSE(other_end.families().contains(absent)) << other_end.text;
  EXPECT_EQ(status({"--check", "near"}).status, 0);
  far->send_signal(SIGTERM);
  expect_exit(*far, kTerminated);
  Scraped gone;
  ASSERT_TRUE(eventually(patience(60s), [&] {
    gone = scrape();
    return gone.at(R"(udtcat_dialling_seconds{service="near"})") > 0;
  })) << near.errors();
  EXPECT_EQ(gone.at(R"(udtcat_sessions{service="near",peer=""})"), 0);
  const Ran away = status({"--check", "near"});
  EXPECT_EQ(away.status, 1) << away.output;
  EXPECT_THAT(away.output, StartsWith("WARNING - near: dialling 127.0.0.1:" + std::to_string(port_)));
  far.emplace(listen({.args = {"--to", "127.0.0.1:9"}}));
  Scraped again;
  ASSERT_TRUE(eventually(patience(60s), [&] {
    again = scrape();
    return again.at(R"(udtcat_sessions{service="near",peer=""})") == 1;
  })) << near.errors();
  expect_grown(there, gone);
  expect_grown(gone, again);
  EXPECT_EQ(again.at(R"(udtcat_handshakes_total{service="near",peer=""})"), 2);
  EXPECT_GE(again.at(R"(udtcat_redials_total{service="near"})"),
            there.at(R"(udtcat_redials_total{service="near"})") + 1);
}

TEST_F(MetricsOf, APipeUnderLoadAreThoseOfItsStatus) {
  TwoWay endless(scaled(4 * kGiB), Afterwards::keep_open, Begin::at_once);
  const Process listener = listen(endless.listener.end(served({"--name", "pipe"})));
  EXPECT_EQ(scrape().families(), kOfAll) << "while it waits";
  const Process connector = connect(endless.connector.end());
  ASSERT_TRUE(endless.both_received(scaled(64 * kMiB), kTransferLimit)) << connector.errors();
  const json before = snapshot_of(listener);
  const Scraped now = scrape();
  const json after = snapshot_of(listener);
  ASSERT_TRUE(before.is_object() && after.is_object());
  const std::string peer = R"({service="pipe",peer="")";
  const auto is_between = [&](const std::string& series, const char* member) {
    const double value = now.at(series);
    EXPECT_LE(before["peer_totals"][0][member].get<double>(), value) << series;
    EXPECT_GE(after["peer_totals"][0][member].get<double>(), value) << series;
  };
  is_between("udtcat_stream_bytes_total" + peer + R"(,direction="sent"})", "bytes_sent");
  is_between("udtcat_stream_bytes_total" + peer + R"(,direction="received"})", "bytes_received");
  is_between("udtcat_packets_sent_total" + peer + "}", "packets_sent");
  EXPECT_EQ(now.at("udtcat_streams_open" + peer + "}"), 1);
  EXPECT_GT(now.at("udtcat_rate_bytes_per_second" + peer + "}"), 100'000);
  EXPECT_GT(now.at("udtcat_round_trip_seconds" + peer + "}"), 0);
  // A quarter of a second on a busy host may have no limit that stands out.
  EXPECT_TRUE(eventually(patience(20s), [&] { return scrape().families().contains("udtcat_limited_by"); })) << now.text;
  EXPECT_NEAR(now.at(R"(udtcat_start_time_seconds{service="pipe"})"),
              static_cast<double>(std::time(nullptr)) - before["seconds"].get<double>(), 30);
}

TEST_F(MetricsOf, AListenerCountNoBenchAsATransfer) {
  const Process listener = listen({.args = served({"--name", "nightly", "-v"})});
  Process measuring = udtcat({"bench", "127.0.0.1", std::to_string(port_), "--seconds", "1"}, {.key = key_});
  expect_exit(measuring, kSuccess);
  expect_says(listener, ": bench: ");
  const Scraped benched = scrape();
  for (const std::string& family : kOfTransfers) EXPECT_FALSE(benched.families().contains(family)) << benched.text;
  EXPECT_EQ(snapshot_of(listener)["transfers"], json::array());
}

TEST_F(MetricsOf, AMeetingPlaceHaveItsPairs) {
  Process place({.argv = {UDTCAT_BINARY, "meet", "-l", "127.0.0.1:" + std::to_string(port_), "--public", "--metrics",
                          std::to_string(metrics_)},
                 .environment = {"XDG_RUNTIME_DIR=" + home_.path().string()}});
  const Scraped bare = scrape();
  EXPECT_EQ(bare.families(),
            all_of({kOfAll,
                    {"udtcat_meeting_registrations", "udtcat_meeting_pairs", "udtcat_meeting_over_rate_bytes_total"}}))
      << bare.text;
  const Process listener =
      udtcat({"-l", "--via", "127.0.0.1:" + std::to_string(port_), "--to", "127.0.0.1:9"}, {.key = key_});
  EXPECT_TRUE(
      eventually(patience(20s), [&] { return scrape().at(R"(udtcat_meeting_registrations{service=""})") == 1; }))
      << listener.errors() << place.errors();
  EXPECT_EQ(scrape().at(R"(udtcat_sessions{service="",peer=""})"), 1);
}

TEST_F(MetricsOf, AServiceGoOnWhateverClientsDo) {
  const Process listener = listen({.args = served({"--to", "127.0.0.1:9", "--name", "db"})});
  const Process connector = connect({.args = {"--from", std::to_string(free_port())}});
  const std::string sessions = R"(udtcat_sessions{service="db",peer=""})";
  ASSERT_TRUE(eventually(patience(20s), [&] { return scrape().series.contains(sessions); })) << connector.errors();
  const std::uint64_t memory = listener.resident_bytes();
  const double descriptors = scrape().at(R"(udtcat_open_descriptors{service="db"})");
  // Some that say a word and no more, one that never stops, and many at a time.
  std::vector<TcpClient> slow;
  for (int i = 0; i < 7; ++i) {
    slow.emplace_back(metrics_, patience(20s));
    EXPECT_TRUE(slow.back().send("GET /met"));
  }
  std::ignore = asked(metrics_, "GET /metrics HTTP/1.1\r\nX: " + std::string(10'000'000, 'x'));
  std::vector<std::thread> many;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 50; ++i)
    many.emplace_back([&] { answered += asked(metrics_, request()).starts_with("HTTP/1.1 200 ") ? 1 : 0; });
  for (std::thread& each : many) each.join();
  EXPECT_EQ(answered, 50);
  for (const TcpClient& each : slow) EXPECT_TRUE(each.receive_end()) << "nobody is waited for";
  EXPECT_TRUE(
      eventually(kAtOnce, [&] { return scrape().at(R"(udtcat_open_descriptors{service="db"})") <= descriptors; }));
  EXPECT_LT(listener.resident_bytes(), memory + 16 * kMiB);
  EXPECT_EQ(scrape().at(sessions), 1) << listener.errors();
  EXPECT_EQ(status({"--check", "db"}).status, 0) << "and its peer is not silent";
}

TEST_F(MetricsOf, AProcessAnswerOnlyWhatTheyAre) {
  const Process listener = listen({.args = served({"-v"})});
  EXPECT_FALSE(scrape().series.empty());
  expect_says(listener, "metrics at http://127.0.0.1:" + std::to_string(metrics_) + "/metrics");
  const auto answer = [&](const std::string& words) { return asked(metrics_, words + "\r\n\r\n"); };
  EXPECT_THAT(answer("GET / HTTP/1.1"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(answer("POST /metrics HTTP/1.1"), AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD")));
  EXPECT_THAT(answer("hello"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer("HEAD /metrics HTTP/1.1"), AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("udtcat_"))));
}

TEST_F(MetricsOf, AProcessMayBeServedAtEveryAddress) {
  const std::string all = "*:" + std::to_string(metrics_);
  const Process listener = listen({.args = {"--to", "127.0.0.1:9", "-v", "--metrics", all}});
  EXPECT_FALSE(scrape().series.empty());
  expect_says(listener, "metrics at http://0.0.0.0:" + std::to_string(metrics_) + "/metrics");
  Process second = udtcat({"-l", "127.0.0.1:0", "--metrics", all}, {.key = key_});
  expect_exit(second, kUnreachable);
  EXPECT_THAT(second.errors(), HasSubstr("serve metrics at " + all + ": "));
}

TEST_F(MetricsOf, AProcessWhosePortIsTakenAreAMistakeThatIsSaid) {
  const TcpListener other;
  Process listener = listen({.args = {"--metrics", std::to_string(other.port())}});
  expect_exit(listener, kUnreachable);
  EXPECT_THAT(listener.errors(),
              AllOf(HasSubstr("serve metrics at 127.0.0.1:" + std::to_string(other.port())),
                    HasSubstr("address already in use"), HasSubstr("give --metrics an address of this host")));
  Process wrong = listen({.args = {"--metrics", "nowhere"}});
  expect_exit(wrong, kUsage);
}

TEST_F(MetricsOf, AConfigurationAreServedToo) {
  const std::string file =
      home_.write("db.conf", "listen 127.0.0.1:" + std::to_string(port_) +
                                 "\nto 127.0.0.1:9\nname db\nmetrics 127.0.0.1:" + std::to_string(metrics_) + "\n");
  const Process service = udtcat({"--config", file}, {.key = key_});
  EXPECT_EQ(scrape().at(R"(udtcat_clients_waiting{service="db"})"), 0) << service.errors();
}

TEST_F(MetricsOf, AHostAreReadByStockPrograms) {
  const std::uint16_t entrance = free_port();
  const Process far = listen({.args = {"--to", "127.0.0.1:9", "--name", "far"}});
  const Process near = connect({.args = served({"--from", std::to_string(entrance)})});
  ASSERT_TRUE(eventually(patience(20s), [&] { return scrape().families().contains("udtcat_round_trip_seconds"); }))
      << near.errors();
  const std::string printed = status({"--openmetrics"}).output;
  EXPECT_TRUE(printed.ends_with("\n# EOF\n"));
  EXPECT_THAT(printed, AllOf(HasSubstr("{service=\"far\","), HasSubstr(",pid=\"" + std::to_string(near.pid()) + "\"")));
  for (const std::string& text : {scrape().text, printed}) {
    const Ran checked =
        run({.argv = {"promtool", "check", "metrics"}, .in = open_for_reading(home_.write("metrics", text))});
    EXPECT_EQ(checked.status, 0) << checked.output << checked.errors << text;
  }
  const std::string open = scrape(metrics_, "Accept: application/openmetrics-text;version=1.0.0\r\n").text;
  const Ran read = run({.argv = {"/usr/bin/python3", "-c",
                                 "import sys; from prometheus_client.openmetrics.parser import "
                                 "text_string_to_metric_families as read; "
                                 "print([each.name for each in read(sys.stdin.read())])"},
                        .in = open_for_reading(home_.write("open", open))});
  EXPECT_EQ(read.status, 0) << read.errors << open;
  EXPECT_THAT(read.output, AllOf(HasSubstr("'udtcat_build'"), HasSubstr("'udtcat_stream_bytes'")));
}

TEST_F(MetricsOf, NobodyAreCriticalAndTheStatusIsOneThing) {
  const Ran none = status({"--check", "no-such-service"});
  EXPECT_EQ(none.status, 2) << none.output;
  EXPECT_THAT(none.output, StartsWith("CRITICAL - no-such-service: "));
  EXPECT_EQ(status({"--check", "db", "--json"}).status, kUsage);
  EXPECT_EQ(status({"--openmetrics", "--json"}).status, kUsage);
  EXPECT_EQ(status({"--check", "a b"}).status, kUsage);
}

class StatusGroupOf : public UdtcatTest {};

/// In a mount namespace with a /run of its own, so that no service of this host is seen.
TEST_F(StatusGroupOf, AServiceMayAskAndNobodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be other users";
  const Ran ran = run({.argv = {"unshare", "--mount", "sh", "-c", R"(
    mount -t tmpfs none /run; mount -t tmpfs none /tmp
    mkdir -p /run/udtcat/db; chmod 755 /run /run/udtcat /run/udtcat/db; chown 4711 /run/udtcat/db
    printf '%s' "$KEY" > /tmp/key; chown 4711 /tmp/key; chmod 400 /tmp/key
    unset XDG_RUNTIME_DIR
    export HOME=/tmp
    cp "$0" /tmp/udtcat; chmod 755 /tmp /tmp/udtcat; set -- /tmp/udtcat
    RUNTIME_DIRECTORY=/run/udtcat/db setpriv --reuid 4711 --regid 4711 --groups 61234 \
      "$1" -l "127.0.0.1:$PORT" -k /tmp/key --to 127.0.0.1:9 --name db --status-group 61234 2> /tmp/said & service=$!
    for i in $(seq 200); do [ -S /run/udtcat/db/$service.sock ] && break; sleep 0.05; done
    stat -c '%a %g' /run/udtcat/db/*.sock
    setpriv --reuid 4712 --regid 4712 --groups 61234 "$1" status --check db; echo "member $?"
    setpriv --reuid 4712 --regid 61234 --clear-groups "$1" status --check db; echo "its group $?"
    setpriv --reuid 4712 --regid 4712 --clear-groups "$1" status --check db; echo "stranger $?"
    setpriv --reuid 4712 --regid 4712 --clear-groups "$1" status --openmetrics; echo "metrics $?"
    "$1" status --check db; echo "root $?"
    cp /tmp/key /tmp/other; mkdir -m 700 /tmp/udtcat-4712; chown 4712 /tmp/other /tmp/udtcat-4712
    setpriv --reuid 4712 --regid 4712 --clear-groups \
      "$1" -l 127.0.0.1:0 -k /tmp/other --to 127.0.0.1:9 --name db 2> /tmp/pretends & pretender=$!
    for i in $(seq 200); do [ -S /tmp/udtcat-4712/$pretender.sock ] && break; sleep 0.05; done
    "$1" status --openmetrics > /tmp/metrics; kill $pretender; wait $pretender
    echo as it says $(grep -c '^udtcat_build_info{service="db",' /tmp/metrics)
    echo by its number $(grep -c '^udtcat_build_info{service="",pid="'$pretender'"' /tmp/metrics)
    kill $service; wait $service; cat /tmp/said >&2
    setpriv --reuid 4711 --regid 4711 --clear-groups \
      "$1" -l "127.0.0.1:$PORT" -k /tmp/key --to 127.0.0.1:9 --status-group 61234; echo "no member $?"
    chown 0 /tmp/key
    "$1" -l "127.0.0.1:$PORT" -k /tmp/key --to 127.0.0.1:9 --status-group no-such-group; echo "no group $?"
  )",
                                UDTCAT_BINARY},
                       .environment = {"KEY=" + key_, "PORT=" + std::to_string(port_)}});
  EXPECT_THAT(ran.output, StartsWith("660 61234\n")) << ran.errors;
  for (const char* each : {"\nmember 0\n", "\nits group 0\n", "\nstranger 3\n", "\nmetrics 3\n", "\nroot 0\n",
                           "\nas it says 1\n", "\nby its number 1\n", "\nno member 2\n", "\nno group 2\n"})
    EXPECT_THAT(ran.output, HasSubstr(each)) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("UNKNOWN - db: not found, and 1 service of other users may not be asked"));
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("this user is not in that group"), HasSubstr("this host has no such group")));
}

TEST_F(StatusGroupOf, AUsersOwnDirectoryIsWarnedOf) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may use any group";
  const Process listener = listen({.args = {"--to", "127.0.0.1:9", "--status-group", "61234"}});
  expect_says(listener, "--status-group 61234: its members cannot ask, as ");
}

}  // namespace
}  // namespace udtcat::test::e2e
