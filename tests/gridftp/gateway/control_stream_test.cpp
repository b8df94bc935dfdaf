// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/control_stream.hpp"

#include <gmock/gmock.h>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::gridftp {
namespace {

using bridge::bytes_of;
using bridge::tcp;
using bridge::TcpPair;
using testing::HasSubstr;

void ignore_no_port(const Endpoint&, std::error_code) {}

struct ControlStreamTest : ::testing::Test {
  std::unique_ptr<ControlStream> stream_beside(LocalPeer peer) {
    const auto ports = std::make_shared<ControlPorts>(
        io, bridge::loopback_v4(), bridge::loopback_v4(), [](const Endpoint&, const tcp::socket&) {}, ignore_no_port);
    return std::make_unique<ControlStream>(io, make_tcp_stream(std::move(pair.ours)), peer, ports,
                                           [this](const Error& error) { violations.push_back(error.message()); });
  }
  void say(std::string_view text) { boost::asio::write(pair.theirs, boost::asio::buffer(text)); }
  /// The bytes that have come to the socket's other side.
  std::string heard() {
    std::string text(65'536, '\0');
    boost::system::error_code error;
    pair.theirs.non_blocking(true);
    text.resize(pair.theirs.read_some(boost::asio::buffer(text), error));
    return text;
  }
  boost::asio::io_context io;
  TcpPair pair{io};
  std::vector<std::string> violations;
};

TEST_F(ControlStreamTest, PassesLinesBothWays) {
  const auto stream = stream_beside(LocalPeer::client);
  say("USER me\r\nPASV\r\nnot a whole line");
  pair.theirs.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(bridge::drain(io, *stream, 3).bytes, bytes_of("USER me\r\nPASV\r\n"));
  EXPECT_FALSE(bridge::write_all(io, *stream, bytes_of("220 ready\r\n331 pass")));
  EXPECT_FALSE(bridge::write_all(io, *stream, bytes_of("word\r\n")));
  EXPECT_FALSE(bridge::finish(io, *stream));
  EXPECT_EQ(bridge::read_all(pair.theirs.native_handle()), bytes_of("220 ready\r\n331 password\r\n"));
}

TEST_F(ControlStreamTest, RewritesAddresses) {
  const auto stream = stream_beside(LocalPeer::client);
  EXPECT_FALSE(bridge::write_all(io, *stream, bytes_of("227 Entering Passive Mode (10,0,0,1,195,80)\r\n")));
  EXPECT_THAT(heard(), HasSubstr("227 Entering Passive Mode (127,0,0,1,"));
}

TEST_F(ControlStreamTest, AnswersTheClientItselfBesideWhatTheServerSays) {
  const auto stream = stream_beside(LocalPeer::client);
  EXPECT_FALSE(bridge::write_all(io, *stream, bytes_of("220 ready\r\n")));
  say("AUTH GSSAPI\r\nNOOP\r\n");
  std::array<std::byte, 100> piece{};
  LocalStream::ReadResult read{.state = LocalStream::ReadState::would_block};
  EXPECT_TRUE(bridge::run_until(io, [&] {
    bool readable = false;
    stream->async_wait_readable([&] { readable = true; });
    EXPECT_TRUE(bridge::run_until(io, [&] { return readable; }));
    read = stream->read_some(piece);
    return read.state == LocalStream::ReadState::data;
  }));
  EXPECT_EQ(bytes_of("NOOP\r\n"),
            bridge::Bytes(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(read.bytes)));
  EXPECT_FALSE(bridge::write_all(io, *stream, bytes_of("200 noop\r\n")));
  EXPECT_FALSE(bridge::finish(io, *stream));
  EXPECT_THAT(heard(), testing::AllOf(HasSubstr("220 ready\r\n534 "), HasSubstr("\r\n200 noop\r\n")));
}

TEST_F(ControlStreamTest, WaitsForASlowReader) {
  const auto stream = stream_beside(LocalPeer::client);
  const std::string line = "111 Range Marker " + std::string(500'000, '1') + "\r\n";
  auto heard_all = bridge::read_all_in_background(pair.theirs.native_handle());
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(bridge::write_all(io, *stream, bytes_of(line)));
  EXPECT_FALSE(bridge::finish(io, *stream));
  EXPECT_EQ(heard_all.get().size(), 40 * line.size());
}

TEST_F(ControlStreamTest, EndsWhereALineIsTooLongAndSaysSo) {
  const auto stream = stream_beside(LocalPeer::client);
  const std::string endless(200'000, 'x');
  boost::asio::async_write(pair.theirs, boost::asio::buffer(endless), [](boost::system::error_code, std::size_t) {});
  const auto drained = bridge::drain(io, *stream);
  EXPECT_EQ(drained.last.state, LocalStream::ReadState::failed);
  EXPECT_TRUE(drained.last.error);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_THAT(violations.front(), HasSubstr("longer than 131072 bytes"));
}

TEST_F(ControlStreamTest, EndsWhereTheOtherGatewayBreaksTheRules) {
  const auto stream = stream_beside(LocalPeer::server);
  EXPECT_TRUE(bridge::write_all(io, *stream, bytes_of("PORT here\r\n")));
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_THAT(violations.front(), HasSubstr("\"PORT here\""));
  stream->abort();
  EXPECT_EQ(bridge::read_error(pair.theirs), boost::asio::error::connection_reset);
}

TEST_F(ControlStreamTest, TellsOfASocketThatIsGone) {
  const auto stream = stream_beside(LocalPeer::client);
  pair.theirs.set_option(boost::asio::socket_base::linger(true, 0));
  pair.theirs.close();
  std::error_code error;
  for (int i = 0; i < 3 && !error; ++i) error = bridge::write_all(io, *stream, bytes_of("220 ready\r\n"));
  EXPECT_TRUE(error);
  EXPECT_TRUE(violations.empty());
}

}  // namespace
}  // namespace udtcat::gridftp
