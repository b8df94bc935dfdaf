// SPDX-License-Identifier: Apache-2.0
#include "tool/status/metrics_server.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/bridge/descriptor.hpp"
#include "support/run_until.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class MetricsServerTest : public testing::Test {
 protected:
  MetricsServerTest() {
    auto made = MetricsServer::open(io_, resolve({"127.0.0.1", 0}, AddressFamily::any).value(), [this] {
      ++snapshots_;
      ProcessSnapshot snapshot;
      snapshot.service = "db";
      snapshot.peers = {snapshot_of(1, Endpoint{}, {})};
      snapshot.peers[0].stats.bytes_sent = snapshots_ * 1'000'000;
      snapshot.peer_totals = {PeerTotal{}};
      return snapshot;
    });
    EXPECT_TRUE(made) << made.error().message();
    server_ = std::move(*made);
    port_ = server_->local_endpoints().at(0).port();
  }
  [[nodiscard]] bridge::Descriptor connect() const {
    bridge::Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // SAFETY: sockaddr_in is a sockaddr of AF_INET.
    EXPECT_EQ(::connect(client.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return client;
  }
  static void send(const bridge::Descriptor& client, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t now = ::send(client.number(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return;  // the other end has had enough
      sent += static_cast<std::size_t>(now);
    }
  }
  static std::string read_to_end(const bridge::Descriptor& client) {
    std::string all;
    std::vector<char> piece(65'536);
    for (ssize_t got = 1; (got = ::recv(client.number(), piece.data(), piece.size(), 0)) > 0;)
      all.append(piece.data(), static_cast<std::size_t>(got));
    return all;
  }
  /// The client blocks, as its process runs beside the server's.
  [[nodiscard]] std::string ask(const std::string& request) {
    auto answer = std::async(std::launch::async, [this, request] {
      const auto client = connect();
      send(client, request);
      return read_to_end(client);
    });
    EXPECT_TRUE(test::run_until(io_, [&] { return answer.wait_for(0s) == std::future_status::ready; }));
    return answer.get();
  }
  static std::string get(const std::string& target, const std::string& more = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
  }

  std::uint64_t snapshots_ = 0;
  boost::asio::io_context io_;
  std::unique_ptr<MetricsServer> server_;
  std::uint16_t port_ = 0;
};

TEST_F(MetricsServerTest, AnswersWithMetricsAndTheRateOfAQuarterOfASecond) {
  const std::string answer = ask(get("/metrics"));
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                            HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
                            HasSubstr("Connection: close\r\n"), HasSubstr("udtcat_clients_waiting{service=\"db\"} 0\n"),
                            HasSubstr("udtcat_rate_bytes_per_second{service=\"db\",peer=\"\"} "),
                            Not(HasSubstr("udtcat_rate_bytes_per_second{service=\"db\",peer=\"\"} 0\n"))));
  EXPECT_EQ(snapshots_, 2U);
  const auto body = answer.find("\r\n\r\n") + 4;
  EXPECT_THAT(answer, HasSubstr("Content-Length: " + std::to_string(answer.size() - body) + "\r\n"));
}

TEST_F(MetricsServerTest, SpeaksOpenMetricsToWhoNamesIt) {
  const std::string answer =
      ask(get("/metrics", "Accept: application/openmetrics-text;version=1.0.0;q=0.75,text/plain;q=0.5\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
  EXPECT_TRUE(answer.ends_with("\n# EOF\n"));
}

TEST_F(MetricsServerTest, TellsTheHeadAlone) {
  const std::string answer = ask("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: "));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(MetricsServerTest, TakesAQueryAndAnOldRequest) {
  EXPECT_THAT(ask(get("/metrics?name[]=x")), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(MetricsServerTest, RefusesOtherThings) {
  EXPECT_THAT(ask(get("/")), AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("udtcat has its metrics at /metrics")));
  EXPECT_THAT(ask(get("/metricsx")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
  EXPECT_THAT(ask("no request\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask(get("/metrics", "X: " + std::string(kMaxRequestHeadBytes, 'x') + "\r\n")),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(snapshots_, 0U);
}

TEST_F(MetricsServerTest, IsDoneSoonWithAHeadWithoutEnd) {
  std::ignore = ask("GET /metrics HTTP/1.1\r\nX: " + std::string(10'000'000, 'x'));
  EXPECT_THAT(ask(get("/metrics")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(MetricsServerTest, ServesEverybodyOfManyAtATime) {
  constexpr int kClients = 50;
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < kClients; ++i)
    answers.push_back(std::async(std::launch::async, [this] {
      const auto client = connect();
      send(client, get("/metrics"));
      return read_to_end(client);
    }));
  EXPECT_TRUE(test::run_until(io_, [&] {
    return std::ranges::all_of(answers, [](auto& each) { return each.wait_for(0s) == std::future_status::ready; });
  }));
  for (auto& each : answers) EXPECT_THAT(each.get(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(MetricsServerTest, IsKeptFromNobodyByClientsThatSayNothing) {
  std::vector<bridge::Descriptor> mute;
  for (std::size_t i = 0; i < kMaxMetricsConnections + 10; ++i) mute.push_back(connect());
  EXPECT_THAT(ask(get("/metrics")), StartsWith("HTTP/1.1 200 "));
  auto dropped = std::async(std::launch::async, [&] {
    for (const auto& each : mute) EXPECT_EQ(read_to_end(each), "");
  });
  EXPECT_TRUE(test::run_until(io_, [&] { return dropped.wait_for(0s) == std::future_status::ready; }));
}

TEST_F(MetricsServerTest, GoesWithWhatItWasDoing) {
  const auto client = connect();
  send(client, get("/metrics"));
  EXPECT_TRUE(test::run_until(io_, [&] { return snapshots_ == 1; }));
  server_.reset();
  const auto over = std::chrono::steady_clock::now() + 2 * kStatusInterval;
  EXPECT_TRUE(test::run_until(io_, [&] { return std::chrono::steady_clock::now() > over; }));
  EXPECT_EQ(snapshots_, 1U);
  EXPECT_EQ(read_to_end(client), "");
}

TEST_F(MetricsServerTest, CannotHaveAPortThatIsTaken) {
  const auto taken = MetricsServer::open(io_, server_->local_endpoints(), nullptr);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::cannot_bind);
  EXPECT_THAT(taken.error().message(), HasSubstr("bind tcp 127.0.0.1:" + std::to_string(port_)));
}

}  // namespace
}  // namespace udtcat::tool
