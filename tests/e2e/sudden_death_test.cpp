// SPDX-License-Identifier: Apache-2.0
/// TCP peers of a forward see a reset when its end dies, never an end that could be taken for all.
#include <csignal>
#include <future>
#include <string>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class SuddenDeath : public UdtcatTest {
 protected:
  void SetUp() override {
    to_.emplace(listen({.args = {"--to", "127.0.0.1:" + std::to_string(service_.port())}}));
    from_.emplace(connect({.args = {"--from", "127.0.0.1:" + std::to_string(entrance_)}}));
    ASSERT_TRUE(accepts_tcp(entrance_, kAtOnce)) << from_->errors() << to_->errors();
    ASSERT_TRUE(service_.accept(kAtOnce)) << "of the client that asked whether it accepts";
    client_.emplace(entrance_, kAtOnce);
    served_ = service_.accept(kAtOnce);
    ASSERT_TRUE(served_);
  }
  void TearDown() override {
    // They end, so that whoever sends ends too.
    from_.reset();
    to_.reset();
  }
  /// Sends until the connection breaks.
  [[nodiscard]] static std::future<void> send_endlessly(const TcpClient& from) {
    return std::async(std::launch::async, [&from] {
      const std::string piece(65536, 'x');
      while (from.send(piece)) continue;
    });
  }

  const std::uint16_t entrance_ = free_port();
  const TcpListener service_;
  std::optional<Process> to_;
  std::optional<Process> from_;
  std::optional<TcpClient> client_;
  std::optional<TcpClient> served_;
  std::future<void> sending_;  // last: it uses what stands above
};

constexpr std::size_t kSomeBytes = 300'000;

TEST_F(SuddenDeath, OfTheNearEndResetsItsClient) {
  sending_ = send_endlessly(*served_);
  ASSERT_EQ(client_->receive(kSomeBytes).size(), kSomeBytes);
  from_->send_signal(SIGKILL);
  EXPECT_TRUE(client_->receive_reset());
}

TEST_F(SuddenDeath, OfTheNearEndResetsAClientThatHasSentAll) {
  client_->finish_sending();
  ASSERT_TRUE(served_->receive_end());
  sending_ = send_endlessly(*served_);
  ASSERT_EQ(client_->receive(kSomeBytes).size(), kSomeBytes);
  from_->send_signal(SIGKILL);
  EXPECT_TRUE(client_->receive_reset());
}

TEST_F(SuddenDeath, OfTheFarEndResetsItsService) {
  sending_ = send_endlessly(*client_);
  ASSERT_EQ(served_->receive(kSomeBytes).size(), kSomeBytes);
  to_->send_signal(SIGKILL);
  EXPECT_TRUE(served_->receive_reset());
}

TEST_F(SuddenDeath, OfTheOtherEndResetsAsWell) {
  sending_ = send_endlessly(*served_);
  ASSERT_EQ(client_->receive(kSomeBytes).size(), kSomeBytes);
  to_->send_signal(SIGKILL);
  EXPECT_TRUE(client_->receive_reset());
}

TEST_F(SuddenDeath, OfAnIdleEndResetsToo) {
  from_->send_signal(SIGKILL);
  EXPECT_TRUE(client_->receive_reset());
}

TEST_F(SuddenDeath, ComesTooLateForWhatHasEnded) {
  const std::string answer(kSomeBytes, 'x');
  client_->finish_sending();
  ASSERT_TRUE(served_->receive_end());
  ASSERT_TRUE(served_->send(answer));
  served_.reset();
  // Both directions have ended and been receipted once the client sees the end; it has read nothing else before.
  EXPECT_EQ(client_->receive(kSomeBytes), answer);
  EXPECT_EQ(client_->receive(1), "");
  from_->send_signal(SIGKILL);
  EXPECT_FALSE(client_->receive_reset());
}

}  // namespace
}  // namespace udtcat::test::e2e
