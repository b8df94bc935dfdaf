// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/socket_connect.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <boost/asio/write.hpp>

#include "lib/transport/channel.hpp"
#include "support/addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport::tcp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A proxy that says what the test wants.
class ScriptedProxy {
 public:
  explicit ScriptedProxy(boost::asio::io_context& io)
      : acceptor_(io, {boost::asio::ip::address_v4::loopback(), 0}), socket_(io) {
    acceptor_.async_accept(socket_, [this](const boost::system::error_code&) { socket_.non_blocking(true); });
  }
  [[nodiscard]] HostPort at() const { return {"127.0.0.1", acceptor_.local_endpoint().port()}; }
  const std::string& heard() {
    std::array<char, 4096> piece{};
    boost::system::error_code nothing;
    if (socket_.is_open()) heard_.append(piece.data(), socket_.read_some(boost::asio::buffer(piece), nothing));
    return heard_;
  }
  void say(std::string_view words) { boost::asio::write(socket_, boost::asio::buffer(words)); }
  void close() { socket_.close(); }

 private:
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::socket socket_;
  std::string heard_;
};

class SocketConnectTest : public testing::Test {
 protected:
  SocketConnectTest() {
    HttpProxy settings{.at = proxy_.at()};
    options_.proxy = std::make_shared<const HttpProxy>(settings);
  }
  void connect(const Endpoint& to) {
    connecting_ = std::make_unique<SocketConnect>(io_, to, options_, [this](Result<Socket> made) {
      const auto done = std::move(connecting_);
      made_.emplace(std::move(made));
    });
  }
  /// The connection to the far host, when the proxy has been asked.
  void ask() {
    connect(far_);
    EXPECT_TRUE(test::run_until(io_, [&] { return proxy_.heard().ends_with("\r\n\r\n"); }));
  }
  [[nodiscard]] std::string failure() {
    EXPECT_TRUE(test::run_until(io_, [&] { return made_.has_value(); }));
    return *made_ ? "" : made_->error().cause;
  }

  boost::asio::io_context io_;
  ScriptedProxy proxy_{io_};
  const Endpoint far_ = test::address_of("192.0.2.1", 9000);  // nobody has it
  TransportOptions options_;
  std::unique_ptr<SocketConnect> connecting_;
  std::optional<Result<Socket>> made_;
};

TEST_F(SocketConnectTest, AsksTheProxyForTheAddress) {
  ask();
  EXPECT_THAT(proxy_.heard(), StartsWith("CONNECT 192.0.2.1:9000 HTTP/1.1\r\n"));
  for (const char letter : std::string("HTTP/1.1 200 OK\r\nVia: us\r\n\r\n")) proxy_.say(std::string(1, letter));
  ASSERT_EQ(failure(), "");
  const std::string_view words = "behind";
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_EQ(send(**made_, std::span(&bytes, 1)).bytes, words.size());
  EXPECT_TRUE(test::run_until(io_, [&] { return proxy_.heard().ends_with("\r\n\r\nbehind"); }));
}

TEST_F(SocketConnectTest, AsksTheProxyForTheNameWhereItIsKnown) {
  options_.proxied_host = "db.example";
  ask();
  EXPECT_THAT(proxy_.heard(), StartsWith("CONNECT db.example:9000 HTTP/1.1\r\n"));
}

TEST_F(SocketConnectTest, FailsWithTheProxysReason) {
  ask();
  proxy_.say("HTTP/1.1 403 Filtered\r\n\r\n<html>");
  EXPECT_THAT(failure(), HasSubstr("403 Filtered"));
}

TEST_F(SocketConnectTest, TakesNoBytesThatCannotBeTheOtherEnds) {
  ask();
  proxy_.say("HTTP/1.1 200 OK\r\n\r\nhello");
  EXPECT_THAT(failure(), HasSubstr("says more than its answer"));
}

TEST_F(SocketConnectTest, FailsWhereTheProxyIsNone) {
  ask();
  proxy_.say("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_THAT(failure(), HasSubstr("is it one?"));
}

TEST_F(SocketConnectTest, FailsWhereTheProxyCloses) {
  ask();
  proxy_.close();
  EXPECT_THAT(failure(), HasSubstr("without an answer"));
}

TEST_F(SocketConnectTest, FailsWithoutAnEndOfTheAnswer) {
  ask();
  proxy_.say("HTTP/1.1 200 OK\r\n");
  proxy_.say(std::string(net::kMaxProxyAnswerBytes, 'a'));
  EXPECT_THAT(failure(), HasSubstr("is it one?"));
}

TEST_F(SocketConnectTest, SaysAtEachMomentWhomItWaitsFor) {
  connect(far_);
  EXPECT_THAT(connecting_->silence(), HasSubstr("127.0.0.1"));
  EXPECT_TRUE(test::run_until(io_, [&] { return proxy_.heard().ends_with("\r\n\r\n"); }));
  EXPECT_THAT(connecting_->silence(), HasSubstr("may still be waiting"));
}

TEST_F(SocketConnectTest, FailsWhereTheProxyIsNotThere) {
  HttpProxy nobody{.at = {"127.0.0.1", 1}};
  options_.proxy = std::make_shared<const HttpProxy>(nobody);
  connect(far_);
  EXPECT_THAT(failure(), StartsWith("the proxy 127.0.0.1:1"));
}

TEST_F(SocketConnectTest, GoesToThisHostAndWithoutAProxyDirectly) {
  boost::asio::ip::tcp::acceptor listener(io_, {boost::asio::ip::address_v4::loopback(), 0});
  connect(test::loopback(AddressFamily::ipv4, listener.local_endpoint().port()));
  EXPECT_EQ(failure(), "");
  made_.reset();
  const auto port = listener.local_endpoint().port();
  listener.close();
  options_.proxy = nullptr;
  connect(test::loopback(AddressFamily::ipv4, port));
  EXPECT_EQ(failure(), kTcpPortClosed);
}

}  // namespace
}  // namespace udtcat::transport::tcp
