#include "gridftp/gateway/gateway_greeting.hpp"

#include <gtest/gtest.h>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <udtcat/bridges.hpp>

#include "gridftp/dialogue/data_port.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "support/spec_example.hpp"

namespace udtcat::gridftp {
namespace {

GatewayGreeting data_to(const char* text) { return {parse_data_port(text).value()}; }

TEST(GatewayGreeting, IsThatOfTheWorkedExample) {
  const test::SpecExample example("gridftp.md", "gateway streams");
  EXPECT_EQ(to_line({}), example.text("control") + '\n');
  EXPECT_EQ(to_line(data_to("192,0,2,1,195,80")), example.text("data") + '\n');
}

TEST(GatewayGreeting, ComesBackAsItWas) {
  for (const auto& greeting : {GatewayGreeting{}, data_to("0,0,0,0,0,0"), data_to("255,255,255,255,255,255")}) {
    std::string line = to_line(greeting);
    EXPECT_LE(line.size(), kMostGreetingBytes);
    line.pop_back();
    EXPECT_EQ(parse_gateway_greeting(line).value(), greeting);
  }
}

TEST(GatewayGreeting, IsRefusedAtEveryTruncationAndWithEveryByteChanged) {
  for (std::string line : {to_line({}), to_line(data_to("10,0,0,1,195,80"))}) {
    line.pop_back();
    for (std::size_t bytes = 0; bytes < line.size(); ++bytes) {
      const auto read = parse_gateway_greeting(line.substr(0, bytes));
      // A number cut short is a number.
      EXPECT_TRUE(!read || (read->data && bytes + 1 == line.size())) << line.substr(0, bytes);
    }
    for (std::size_t at = 0; at < line.size(); ++at) {
      std::string changed = line;
      changed[at] = '~';
      EXPECT_FALSE(parse_gateway_greeting(changed)) << changed;
    }
  }
}

TEST(GatewayGreeting, OfAnotherProtocolOrVersionIsRefusedInWords) {
  EXPECT_EQ(parse_gateway_greeting("GET / HTTP/1.0").error().code, Errc::stream_refused);
  EXPECT_NE(parse_gateway_greeting("USER anonymous\r").error().message().find("no gridftp gateway"), std::string::npos);
  EXPECT_NE(parse_gateway_greeting("udtcat-gridftp 2 control").error().message().find("version 1"), std::string::npos);
  EXPECT_EQ(parse_gateway_greeting(std::string(1000, '\1')).error().message().find('\1'), std::string::npos);
}

using bridge::bytes_of;
using bridge::TcpPair;

struct GreetedStreamTest : ::testing::Test {
  boost::asio::io_context io;
  TcpPair pair{io};
  GreetedStream stream{"hello\n", make_tcp_stream(std::move(pair.ours))};
};

TEST_F(GreetedStreamTest, ReadsAsItsGreetingAndThenAsTheStream) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, std::size_t{100}}) {
    TcpPair other(io);
    GreetedStream greeted("hello\n", make_tcp_stream(std::move(other.ours)));
    boost::asio::write(other.theirs, boost::asio::buffer("world", 5));
    other.theirs.shutdown(bridge::tcp::socket::shutdown_send);
    const auto drained = bridge::drain(io, greeted, piece);
    EXPECT_EQ(drained.bytes, bytes_of("hello\nworld")) << piece;
    EXPECT_EQ(drained.last.state, LocalStream::ReadState::end);
  }
}

TEST_F(GreetedStreamTest, IsTheStreamInAllElse) {
  EXPECT_FALSE(bridge::write_all(io, stream, bytes_of("answer")));
  EXPECT_FALSE(bridge::finish(io, stream));
  EXPECT_EQ(bridge::read_all(pair.theirs.native_handle()), bytes_of("answer"));
  EXPECT_EQ(stream.sink_name(), stream.source_name());
}

TEST_F(GreetedStreamTest, ResetsTheStreamWhenAborted) {
  stream.abort();
  EXPECT_EQ(bridge::read_error(pair.theirs), boost::asio::error::connection_reset);
}

}  // namespace
}  // namespace udtcat::gridftp
