// SPDX-License-Identifier: Apache-2.0
/// The TCP port that a listener has beside its UDP port. Networks without UDP: firewalls_test.cpp.
#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

class TcpBesideUdp : public UdtcatTest {
 protected:
  /// Pipes one byte to the listener's port by TCP alone.
  [[nodiscard]] Ran by_tcp(std::uint16_t port) const {
    return run(
        {.argv = {"bash", "-c",
                  "echo | " UDTCAT_BINARY " --transport tcp --connect-timeout 1s 127.0.0.1 " + std::to_string(port)},
         .environment = {"UDTCAT_KEY=" + key_, "HOME=" + home_.path().string()}});
  }
};

TEST_F(TcpBesideUdp, HasTheSameNumber) {
  Process listener = listen({.args = {"-v"}});
  expect_says(listener, "listening on");
  EXPECT_EQ(by_tcp(port_).status, kSuccess);
  expect_exit(listener, kSuccess);
}

TEST_F(TcpBesideUdp, HasTheNumberThatTheSystemChose) {
  Process listener = udtcat({"-l", "127.0.0.1:0"}, {.key = key_});
  expect_says(listener, "listening on 127.0.0.1:");
  const std::string said = listener.errors();
  const auto port = std::stoi(said.substr(said.find("127.0.0.1:") + 10));
  const Ran ran = by_tcp(static_cast<std::uint16_t>(port));
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  expect_exit(listener, kSuccess);
}

TEST_F(TcpBesideUdp, IsNotThereWhereItIsNotWanted) {
  const Process listener = listen({.args = {"-v", "--no-tcp"}});
  expect_says(listener, "listening on");
  const Ran ran = by_tcp(port_);
  EXPECT_EQ(ran.status, kUnreachable);
  EXPECT_THAT(ran.errors, HasSubstr("connection refused"));
}

TEST_F(TcpBesideUdp, IsLeftToAProgramThatHasIt) {
  const Process taker({.argv = {"python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", std::to_string(port_)}});
  ASSERT_TRUE(eventually(patience(std::chrono::seconds(20)),
                         [&] { return by_tcp(port_).errors.find("another program") != std::string::npos; }));
  Process listener = listen();
  expect_says(listener, "peers come by UDP only");
  Process connector = connect();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_THAT(connector.errors(), Not(HasSubstr("TCP")));
}

}  // namespace
}  // namespace udtcat::test::e2e
