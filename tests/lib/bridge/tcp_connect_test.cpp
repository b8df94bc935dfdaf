// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_connect.hpp"

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

using std::chrono::milliseconds;

struct TcpConnectTest : ::testing::Test {
  TcpConnect start(std::vector<Endpoint> targets, milliseconds patience = kWatchdog) {
    return TcpConnect(io, std::move(targets), patience, [this](std::error_code error, tcp::socket socket) {
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

TEST_F(TcpConnectTest, LosesPatience) {
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
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 2 * kAttemptDelay);
}

TEST_F(TcpConnectTest, TriesTheNextAtOnceWhenOneFailsBesideOneThatIsSilent) {
  const SilentPort silent(io);
  const RefusingPort refusing(io);
  const TcpConnect attempt =
      start({silent.endpoint(), refusing.endpoint(), answering}, milliseconds(3 * kAttemptDelay));
  EXPECT_FALSE(wait());
  EXPECT_EQ(connected_to, answering);
}

TEST_F(TcpConnectTest, WaitsForOneThatIsSilentWhenTheLastHasFailed) {
  const SilentPort silent(io);
  const RefusingPort refusing(io);
  const TcpConnect attempt = start({silent.endpoint(), refusing.endpoint()}, milliseconds(2 * kAttemptDelay));
  EXPECT_EQ(wait(), std::errc::timed_out);
}

TEST(Interleaved, AlternatesTheFamiliesAndKeepsTheirOrder) {
  const auto v4 = [](std::uint16_t port) { return loopback_v4().with_port(port); };
  const auto v6 = [](std::uint16_t port) { return loopback_v6().with_port(port); };
  EXPECT_EQ(interleaved({v6(1), v6(2), v6(3), v4(1), v4(2)}), (std::vector{v6(1), v4(1), v6(2), v4(2), v6(3)}));
  EXPECT_EQ(interleaved({v4(1), v4(2)}), (std::vector{v4(1), v4(2)}));
  EXPECT_EQ(interleaved({v4(1), v6(1)}), (std::vector{v4(1), v6(1)}));
}

TEST_F(TcpConnectTest, CallsNobodyOnceDestroyed) {
  { const TcpConnect attempt = start({answering}); }
  run_ready(io);
  EXPECT_FALSE(outcome);
}

}  // namespace
}  // namespace udtcat::bridge
