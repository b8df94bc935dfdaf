// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/socket_stream.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/units.hpp>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::bridge {
namespace {

using ReadState = LocalStream::ReadState;

struct SocketStreamTest : ::testing::Test {
  boost::asio::io_context io;
  TcpPair pair{io};
  std::unique_ptr<LocalStream> stream = make_tcp_stream(std::move(pair.ours));
};

TEST_F(SocketStreamTest, CarriesBothDirectionsToTheirEnds) {
  const Bytes there = random_bytes(10 * kMiB);
  const Bytes back = random_bytes(10 * kMiB);
  const int theirs = pair.theirs.native_handle();
  const auto producer = std::async(std::launch::async, [&] {
    boost::asio::write(pair.theirs, boost::asio::buffer(there));
    ::shutdown(theirs, SHUT_WR);
  });
  auto consumer = read_all_in_background(theirs);
  EXPECT_FALSE(write_all(io, *stream, back));
  EXPECT_FALSE(finish(io, *stream));
  const Drained drained = drain(io, *stream);
  EXPECT_EQ(drained.last.state, ReadState::end);
  EXPECT_TRUE(drained.bytes == there);
  EXPECT_TRUE(consumer.get() == back);
}

TEST_F(SocketStreamTest, WritesAfterItsSourceHasEnded) {
  pair.theirs.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(drain(io, *stream).last.state, ReadState::end);
  EXPECT_FALSE(write_all(io, *stream, bytes_of("answer")));
  EXPECT_FALSE(finish(io, *stream));
  EXPECT_EQ(read_all(pair.theirs.native_handle()), bytes_of("answer"));
}

TEST_F(SocketStreamTest, ReadsAfterItsSinkHasEnded) {
  EXPECT_FALSE(finish(io, *stream));
  EXPECT_EQ(read_error(pair.theirs), boost::asio::error::eof);
  boost::asio::write(pair.theirs, boost::asio::buffer("late", 4));
  pair.theirs.close();
  EXPECT_EQ(drain(io, *stream).bytes, bytes_of("late"));
}

TEST_F(SocketStreamTest, ResetsTheOtherSideOnAbort) {
  stream->abort();
  EXPECT_EQ(read_error(pair.theirs), boost::asio::error::connection_reset);
}

/// A socket of a process that dies, in whatever way: its stream is let go of.
struct ReceiptedTcpStream : ::testing::Test {
  boost::asio::io_context io;
  TcpPair pair{io};
  std::unique_ptr<LocalStream> stream = std::make_unique<SocketStream>(std::move(pair.ours), GracefulClose::receipted);
};

TEST_F(ReceiptedTcpStream, IsResetWhenDestroyedInTheMiddle) {
  EXPECT_FALSE(write_all(io, *stream, bytes_of("x")));
  char byte = 0;
  boost::asio::read(pair.theirs, boost::asio::buffer(&byte, 1));
  stream.reset();
  EXPECT_EQ(read_error(pair.theirs), boost::asio::error::connection_reset);
}

TEST_F(ReceiptedTcpStream, IsResetWhereOnlyOneHalfHasEnded) {
  EXPECT_FALSE(finish(io, *stream));
  EXPECT_EQ(read_error(pair.theirs), boost::asio::error::eof);
  stream.reset();
  boost::system::error_code error;
  boost::asio::write(pair.theirs, boost::asio::buffer("late", 4), error);
  EXPECT_TRUE(error) << "the other half was cut";
}

TEST_F(ReceiptedTcpStream, IsResetWhereWhatItGaveWasNotReceipted) {
  pair.theirs.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(drain(io, *stream).last.state, ReadState::end);
  stream.reset();
  EXPECT_EQ(read_error(pair.theirs), boost::asio::error::connection_reset);
}

TEST_F(ReceiptedTcpStream, LosesNothingWhereBothHalvesHaveEndedWell) {
  const Bytes payload = random_bytes(100'000);
  pair.theirs.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(drain(io, *stream).last.state, ReadState::end);
  EXPECT_FALSE(write_all(io, *stream, payload));
  EXPECT_FALSE(finish(io, *stream));
  stream->receipted();
  stream.reset();
  EXPECT_TRUE(read_all(pair.theirs.native_handle()) == payload);
}

TEST_F(SocketStreamTest, ReportsAReset) {
  bool readable = false;
  stream->async_wait_readable([&] { readable = true; });
  pair.theirs.set_option(boost::asio::socket_base::linger(true, 0));
  pair.theirs.close();
  ASSERT_TRUE(run_until(io, [&] { return readable; }));
  EXPECT_EQ(drain(io, *stream).last.error, std::errc::connection_reset);
}

TEST_F(SocketStreamTest, CallsNoHandlerAfterAbort) {
  const Bytes payload = random_bytes(1);
  stream->async_wait_readable([] { ADD_FAILURE() << "called after abort"; });
  stream->async_write_some(payload, [](std::error_code, std::size_t) { ADD_FAILURE() << "called after abort"; });
  stream->async_finish([](std::error_code) { ADD_FAILURE() << "called after abort"; });
  stream->abort();
  run_ready(io);
  Bytes into(1);
  EXPECT_EQ(stream->read_some(into).state, ReadState::failed);
  stream->abort();
}

TEST_F(SocketStreamTest, CallsNoHandlerAfterDestruction) {
  const Bytes payload = random_bytes(1);
  stream->async_wait_readable([] { ADD_FAILURE() << "called after destruction"; });
  stream->async_write_some(payload, [](std::error_code, std::size_t) { ADD_FAILURE() << "called after destruction"; });
  stream.reset();
  run_ready(io);
}

TEST_F(SocketStreamTest, NamesItsOtherSide) {
  EXPECT_EQ(stream->source_name(), "tcp " + from_asio(pair.theirs.local_endpoint()).to_string());
  EXPECT_EQ(stream->sink_name(), stream->source_name());
}

}  // namespace
}  // namespace udtcat::bridge
