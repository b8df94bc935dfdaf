// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_connect.hpp"

#include <cerrno>
#include <thread>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "lib/net/racing.hpp"
#include "support/failing_calls.hpp"

namespace udtcat::bridge {
namespace {

using std::chrono::milliseconds;

struct TcpConnectTest : ::testing::Test {
  TcpConnect start(std::vector<Endpoint> targets, milliseconds timeout = kWatchdog) {
    return TcpConnect(io, std::move(targets), timeout, [this](std::error_code error, tcp::socket socket) {
      outcome = error;
      connected_to = socket.is_open() ? from_asio(socket.remote_endpoint()) : Endpoint();
    });
  }
  [[nodiscard]] std::error_code wait() {
    EXPECT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
    return outcome.value_or(std::error_code());
  }
  boost::asio::io_context io;
  std::optional<std::error_code> outcome;
  Endpoint connected_to;
  tcp::acceptor listening{io, loopback()};
  Endpoint answering = from_asio(listening.local_endpoint());
};

TEST_F(TcpConnectTest, Connects) {
  const TcpConnect attempt = start({answering});
  EXPECT_FALSE(wait());
  EXPECT_EQ(connected_to, answering);
}

TEST_F(TcpConnectTest, TriesTheNextAfterARefusal) {
  const RefusingPort refusing(io);
  const TcpConnect attempt = start({refusing.endpoint(), answering});
  EXPECT_FALSE(wait());
  EXPECT_EQ(connected_to, answering);
}

TEST_F(TcpConnectTest, SaysWhyTheLastFailed) {
  const RefusingPort refusing(io);
  const TcpConnect attempt = start({refusing.endpoint(), refusing.endpoint()});
  EXPECT_EQ(wait(), std::errc::connection_refused);
}

TEST_F(TcpConnectTest, FailsAfterItsTimeout) {
  const SilentPort silent(io);
  const TcpConnect attempt = start({silent.endpoint()}, milliseconds(10));
  EXPECT_EQ(wait(), std::errc::timed_out);
}

TEST_F(TcpConnectTest, TriesTheNextBesideOneThatIsSilent) {
  const SilentPort silent(io);
  const auto begun = std::chrono::steady_clock::now();
  const TcpConnect attempt = start({silent.endpoint(), silent.endpoint(), answering});
  EXPECT_FALSE(wait());
  EXPECT_EQ(connected_to, answering);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 2 * net::kConnectionAttemptDelay);
}

TEST_F(TcpConnectTest, TriesTheNextAtOnceWhenOneFailsBesideOneThatIsSilent) {
  const SilentPort silent(io);
  const RefusingPort refusing(io);
  const TcpConnect attempt =
      start({silent.endpoint(), refusing.endpoint(), answering}, milliseconds(3 * net::kConnectionAttemptDelay));
  EXPECT_FALSE(wait());
  EXPECT_EQ(connected_to, answering);
}

TEST_F(TcpConnectTest, WaitsForOneThatIsSilentWhenTheLastHasFailed) {
  const SilentPort silent(io);
  const RefusingPort refusing(io);
  const TcpConnect attempt =
      start({silent.endpoint(), refusing.endpoint()}, milliseconds(2 * net::kConnectionAttemptDelay));
  EXPECT_EQ(wait(), std::errc::timed_out);
}

TEST_F(TcpConnectTest, ResetsAConnectionWhoseOutcomeCannotBeRead) {
  std::thread([this] {
    test::fail_calls({SYS_getsockopt}, ENOBUFS);
    const TcpConnect attempt = start({answering});
    EXPECT_EQ(wait(), std::errc::no_buffer_space);
  }).join();
  tcp::socket service = listening.accept();
  char none = 0;
  boost::system::error_code error;
  service.read_some(boost::asio::buffer(&none, 1), error);
  EXPECT_EQ(error, boost::asio::error::connection_reset);
}

TEST_F(TcpConnectTest, CallsNoHandlerAfterDestruction) {
  { const TcpConnect attempt = start({answering}); }
  run_ready(io);
  EXPECT_FALSE(outcome);
}

}  // namespace
}  // namespace udtcat::bridge
