// SPDX-License-Identifier: Apache-2.0
/// Acceptance 10: TCP services behind one session.
#include <csignal>
#include <memory>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/tcp_services.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

/// `--to` a service on one side, `--from` a port of ours on the other.
class TcpService : public UdtcatTest {
 protected:
  void forward_to(std::uint16_t service) {
    to_.emplace(listen({.args = {"--to", "127.0.0.1:" + std::to_string(service)}}));
    from_.emplace(connect({.args = {"--from", "127.0.0.1:" + std::to_string(entrance_)}}));
    ASSERT_TRUE(accepts_tcp(entrance_, kAtOnce)) << from_->errors() << to_->errors();
  }
  [[nodiscard]] TcpClient client() const { return TcpClient(entrance_, patience(20s)); }

  /// Asks once and expects the whole answer.
  static void expect_small(const TcpClient& client) {
    ASSERT_TRUE(client.send(HttpServer::kSmallRequest));
    std::string answer = read_header(client);
    ASSERT_NE(answer.find("200 OK"), std::string::npos) << answer;
    EXPECT_EQ(client.receive(std::string_view(HttpServer::kSmallBody).size()), HttpServer::kSmallBody);
  }
  [[nodiscard]] static std::string read_header(const TcpClient& client) {
    std::string header;
    while (!header.ends_with("\r\n\r\n")) {
      const std::string next = client.receive(1);
      if (next.empty()) break;
      header += next;
    }
    return header;
  }

  const std::uint16_t entrance_ = free_port();
  std::optional<Process> to_;
  std::optional<Process> from_;
};

TEST_F(TcpService, AnswersTenThousandShortHttpRequestsFromTwoHundredAtOnce) {
  const HttpServer http;
  ASSERT_TRUE(http.ready());
  forward_to(http.port());
  const std::string requests = std::to_string(scaled_count(10'000));
  const Ran ab = run({.argv = {"ab", "-q", "-s", "60", "-n", requests, "-c", std::to_string(scaled_count(200)),
                               "http://127.0.0.1:" + std::to_string(entrance_) + "/small"}},
                     kTransferLimit);
  EXPECT_EQ(ab.status, 0) << ab.errors << from_->errors() << to_->errors();
  EXPECT_NE(ab.output.find("Complete requests:      " + requests + "\n"), std::string::npos) << ab.output;
  EXPECT_NE(ab.output.find("Failed requests:        0\n"), std::string::npos) << ab.output;
  EXPECT_EQ(ab.output.find("Non-2xx"), std::string::npos) << ab.output;
}

TEST_F(TcpService, AnswersTwoHundredConnectionsToADatabase) {
  const DatabaseServer database;
  ASSERT_TRUE(database.ready());
  forward_to(database.port());
  std::vector<TcpClient> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(client());
    ASSERT_TRUE(clients.back().connected()) << "client " << i << from_->errors();
  }
  for (int round = 0; round < scaled_count(50); ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::string name = std::to_string(i);
      ASSERT_TRUE(clients[i].send("SET " + name + " " + name + "\r\nINCRBY " + name + " 1\r\n"))
          << "client " << i << ", round " << round << from_->errors() << to_->errors();
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::string expected = "+OK\r\n:" + std::to_string(i + 1) + "\r\n";
      ASSERT_EQ(clients[i].receive(expected.size()), expected)
          << "client " << i << ", round " << round << from_->errors() << to_->errors();
    }
  }
}

TEST_F(TcpService, OfOneConnectionThatStopsReadingStallsNoOther) {
  const HttpServer http;
  ASSERT_TRUE(http.ready());
  forward_to(http.port());
  const TcpClient stalled = client();
  ASSERT_TRUE(stalled.send(HttpServer::kLargeRequest));
  ASSERT_NE(read_header(stalled).find("200 OK"), std::string::npos);

  const TcpClient lively = client();
  const auto begin = Clock::now();
  for (int i = 0; i < scaled_count(1000); ++i) ASSERT_NO_FATAL_FAILURE(expect_small(lively));
  EXPECT_LT(Clock::now() - begin, patience(10s));
  expect_small(client());

  EXPECT_EQ(stalled.digest_of_next(http.large().bytes), http.large());
}

TEST_F(TcpService, ThatIsDownClosesTheClientAtOnceAndTellsTheOperator) {
  const std::uint16_t nobody = free_port();
  const std::string service = "127.0.0.1:" + std::to_string(nobody);
  forward_to(nobody);  // with a first client, to see whether it is up
  EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(*to_, service) == 1; })) << to_->errors();
  expect_says(*to_, "refused");
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    EXPECT_TRUE(client().receive_end());
    EXPECT_LT(Clock::now() - begin, patience(2s));
  }
  // The rest may be summed up, but neither forgotten nor told one by one.
  EXPECT_LE(count_lines(*to_, service), 2) << to_->errors();
}

TEST_F(TcpService, ThatComesUpLaterIsServedWithoutARestart) {
  const std::uint16_t port = free_port();
  forward_to(port);
  EXPECT_TRUE(client().receive_end());
  const HttpServer http(port);
  ASSERT_TRUE(http.ready());
  expect_small(client());
}

TEST_F(TcpService, IsOpenToManyPeersAndOutlivesEach) {
  const HttpServer http;
  ASSERT_TRUE(http.ready());
  forward_to(http.port());
  const std::uint16_t second_entrance = free_port();
  Process second = connect({.args = {"--from", "127.0.0.1:" + std::to_string(second_entrance)}});
  ASSERT_TRUE(accepts_tcp(second_entrance, kAtOnce)) << second.errors();
  expect_small(TcpClient(second_entrance, kAtOnce));
  second.send_signal(SIGKILL);
  expect_small(client());
}

TEST_F(TcpService, PassesHalfACloseOn) {
  const HttpServer http;
  ASSERT_TRUE(http.ready());
  forward_to(http.port());
  const TcpClient closing = client();
  ASSERT_TRUE(closing.send("GET /small HTTP/1.0\r\n\r\n"));
  closing.finish_sending();
  ASSERT_NE(read_header(closing).find("200 OK"), std::string::npos);
  EXPECT_EQ(closing.receive(std::string_view(HttpServer::kSmallBody).size()), HttpServer::kSmallBody);
  EXPECT_TRUE(closing.receive_end());
}

TEST_F(TcpService, StopsOnSigtermAndTheOtherEndSaysSo) {
  const HttpServer http;
  ASSERT_TRUE(http.ready());
  forward_to(http.port());
  expect_small(client());
  to_->send_signal(SIGTERM);
  expect_exit(*to_, kTerminated, kAtOnce);
  expect_says(*from_, "is gone");
}

}  // namespace
}  // namespace udtcat::test::e2e
