#include "gridftp/gateway/greeted_stream.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::gridftp {
namespace {

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
