// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/gateway_session.hpp"

#include <deque>
#include <mutex>
#include <optional>

#include <gmock/gmock.h>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <udtcat/bridges.hpp>

#include "gridftp/dialogue/data_port.hpp"
#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "lib/net/resolver.hpp"

namespace udtcat::gridftp {
namespace {

using bridge::bytes_of;
using bridge::FakeConnection;
using bridge::RefusingPort;
using bridge::run_until;
using bridge::tcp;
using bridge::TcpPair;
using testing::HasSubstr;

struct GatewaySessionTest : ::testing::Test {
  GatewaySession session_with(std::optional<UpstreamServer> server) {
    return {io, connection, std::move(server),
            [this](const Endpoint&, const Error& error) { trouble.push_back(error.message()); }, greeting_timeout};
  }
  tcp::socket accept() {
    std::optional<tcp::socket> accepted;
    listening.async_accept([&](boost::system::error_code, tcp::socket socket) { accepted = std::move(socket); });
    EXPECT_TRUE(run_until(io, [&] { return accepted.has_value(); }));
    return std::move(*accepted);
  }
  /// By a name, which has what `addresses` say at that moment.
  UpstreamServer server() {
    const auto ask = [this](const HostPort& host, AddressFamily) {
      const std::lock_guard lock(mutex);
      ++asked;
      if (addresses.empty())
        return net::LookupResult{fail(Errc::cannot_resolve, "resolve '" + host.host + '\'', "none")};
      return net::LookupResult{addresses};
    };
    constexpr net::ResolverTimeouts kAtOnce{.answer_lasts{}, .failure_lasts{}};
    return {{"ftp", bridge::from_asio(listening.local_endpoint()).port()},
            std::make_shared<net::Resolver>(io, AddressFamily::ipv4, kAtOnce, ask)};
  }
  void has(std::vector<Endpoint> now) {
    const std::lock_guard lock(mutex);
    addresses = std::move(now);
  }
  void arrives(GatewaySession& session, StreamId id, std::string line) {
    session.take_stream(id);
    ASSERT_TRUE(connection.accepted.contains(id));
    lines.push_back(std::move(line));
    write(id, lines.back());
  }
  void write(StreamId id, std::string_view text) {
    connection.accepted[id].local->async_write_some(std::as_bytes(std::span(text)),
                                                    [](std::error_code, std::size_t) {});
  }
  [[nodiscard]] bool is_refused(StreamId id) {
    return run_until(io, [&] { return connection.refused.contains(id); });
  }
  [[nodiscard]] static std::string data_line(const Endpoint& endpoint) { return to_line({endpoint}); }

  std::chrono::milliseconds greeting_timeout = kGreetingTimeout;
  boost::asio::io_context io;
  FakeConnection connection{bridge::from_asio(tcp::endpoint(boost::asio::ip::make_address("192.0.2.1"), 9000))};
  tcp::acceptor listening{io, bridge::loopback()};
  std::mutex mutex;  // names are looked up on threads
  std::vector<Endpoint> addresses{bridge::loopback_v4()};
  int asked = 0;
  std::vector<std::string> trouble;
  std::deque<std::string> lines;
};

TEST_F(GatewaySessionTest, MakesAClientAControlStream) {
  GatewaySession session = session_with(std::nullopt);
  TcpPair client(io);
  session.take_client(std::move(client.ours));
  ASSERT_EQ(connection.opened.size(), 1U);
  boost::asio::write(client.theirs, boost::asio::buffer("QUIT\r\n", 6));
  client.theirs.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(bridge::drain(io, *connection.opened[0].local).bytes, bytes_of("udtcat-gridftp 1 control\nQUIT\r\n"));
}

TEST_F(GatewaySessionTest, ConnectsAControlStreamToTheServer) {
  GatewaySession session = session_with(server());
  arrives(session, 0, to_line({}));
  tcp::socket served = accept();
  boost::asio::write(served, boost::asio::buffer("220 ready\r\n", 11));
  served.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(bridge::drain(io, *connection.accepted[0].local).bytes, bytes_of("220 ready\r\n"));
}

TEST_F(GatewaySessionTest, RefusesAControlStreamWhereThereIsNoServer) {
  GatewaySession near = session_with(std::nullopt);
  arrives(near, 0, to_line({}));
  EXPECT_TRUE(is_refused(0));
  EXPECT_EQ(connection.refused[0].message(), "take a control connection: this gateway has no server");
  const RefusingPort down(io);
  UpstreamServer refusing = server();
  refusing.address.port = down.endpoint().port();
  GatewaySession far = session_with(refusing);
  arrives(far, 2, to_line({}));
  EXPECT_TRUE(is_refused(2));
  EXPECT_EQ(connection.refused[2].message(),
            "connect tcp ftp:" + std::to_string(refusing.address.port) + ": connection refused");
}

TEST_F(GatewaySessionTest, LooksTheServersNameUpForEachControlStream) {
  GatewaySession session = session_with(server());
  has({});
  arrives(session, 0, to_line({}));
  EXPECT_TRUE(is_refused(0));
  EXPECT_EQ(connection.refused[0].message(),
            "resolve 'ftp': none; a gridftp gateway needs an IPv4 address of its server");
  has({bridge::loopback_v4()});
  arrives(session, 2, to_line({}));
  const tcp::socket served = accept();
  EXPECT_EQ(asked, 2);
}

TEST_F(GatewaySessionTest, ConnectsDataOnlyToWhatWasAnnounced) {
  GatewaySession session = session_with(std::nullopt);
  const Endpoint data = bridge::from_asio(listening.local_endpoint());
  arrives(session, 1, data_line(data));
  EXPECT_TRUE(is_refused(1));
  EXPECT_EQ(connection.refused[1].message(), "connect data to " + data.to_string() + ": it was not announced");

  TcpPair client(io);
  session.take_client(std::move(client.ours));
  boost::asio::write(client.theirs, boost::asio::buffer("PORT " + to_data_port(data) + "\r\n"));
  client.theirs.shutdown(tcp::socket::shutdown_send);
  std::ignore = bridge::drain(io, *connection.opened[0].local);
  arrives(session, 3, data_line(data));
  write(3, "bytes");
  tcp::socket brought = accept();
  std::string heard(5, '\0');
  ASSERT_TRUE(run_until(io, [&] { return brought.available() >= heard.size(); }));
  boost::asio::read(brought, boost::asio::buffer(heard));
  EXPECT_EQ(heard, "bytes");
  arrives(session, 5, data_line(data.with_port(static_cast<std::uint16_t>(data.port() ^ 1U))));
  EXPECT_TRUE(is_refused(5));

  connection.opened.clear();  // the control connection has ended
  arrives(session, 7, data_line(data));
  EXPECT_TRUE(is_refused(7));
}

TEST_F(GatewaySessionTest, OpensADataStreamForAConnectionToAProxyPort) {
  GatewaySession session = session_with(std::nullopt);
  TcpPair client(io);
  session.take_client(std::move(client.ours));
  ASSERT_FALSE(bridge::write_all(io, *connection.opened[0].local, bytes_of("227 (10,0,0,1,195,80)\r\n")));
  std::string reply(100, '\0');
  reply.resize(client.theirs.read_some(boost::asio::buffer(reply)));
  const auto stand_in = find_data_port(reply);
  ASSERT_TRUE(stand_in) << reply;
  tcp::socket data(io);
  data.connect(bridge::to_asio(stand_in->endpoint));
  ASSERT_TRUE(run_until(io, [&] { return connection.opened.size() == 2; }));
  boost::asio::write(data, boost::asio::buffer("bytes", 5));
  data.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(bridge::drain(io, *connection.opened[1].local).bytes,
            bytes_of("udtcat-gridftp 1 data 10,0,0,1,195,80\nbytes"));
}

/// Proves: gridftp.gateway-line-length
TEST_F(GatewaySessionTest, RefusesAStreamOfNoGateway) {
  GatewaySession session = session_with(server());
  arrives(session, 1, "USER anonymous\r\n");
  EXPECT_TRUE(is_refused(1));
  EXPECT_THAT(connection.refused[1].message(), HasSubstr("the other end is no gridftp gateway"));
  arrives(session, 3, std::string(63, 'x'));
  test::run_ready(io);
  EXPECT_FALSE(connection.refused.contains(3)) << "its line may end yet";
  write(3, "x");
  EXPECT_TRUE(is_refused(3));
}

TEST_F(GatewaySessionTest, RefusesAStreamWithoutAGreeting) {
  greeting_timeout = std::chrono::milliseconds(1);
  GatewaySession session = session_with(server());
  session.take_stream(5);
  EXPECT_TRUE(is_refused(5));
  EXPECT_THAT(connection.refused[5].message(), HasSubstr("greeting did not come in time"));
}

TEST_F(GatewaySessionTest, TakesNoMoreStreamsAtOnceThanItsBound) {
  GatewaySession session = session_with(server());
  StreamId id = 0;
  while (connection.refused.empty() && id < 10'000) session.take_stream(id += 2);
  EXPECT_EQ(connection.accepted.size(), 256U);
  connection.accepted[2].done({});
  session.take_stream(id += 2);
  EXPECT_EQ(connection.refused.size(), 1U) << "one has ended";
}

TEST_F(GatewaySessionTest, ReportsOnlyStreamsThatFailed) {
  GatewaySession session = session_with(server());
  session.take_stream(2);
  const auto& done = connection.accepted[2].done;
  done({});
  done({.error = Error{Errc::remote_write_failed, "writing", "there"}});
  EXPECT_TRUE(trouble.empty());
  done({.error = Error{Errc::stream_refused, "refused", "why"}});
  EXPECT_EQ(trouble.size(), 1U);
}

TEST_F(GatewaySessionTest, DoesNothingOnceDestroyed) {
  {
    GatewaySession session = session_with(server());
    arrives(session, 0, to_line({}));
    TcpPair client(io);
    session.take_client(std::move(client.ours));
    ASSERT_GT(io.run_one(), 0U);
  }
  connection.opened[0].done({});
  connection.accepted[0].done({});
  bridge::run_ready(io);
  EXPECT_TRUE(connection.refused.empty());
}

}  // namespace
}  // namespace udtcat::gridftp
