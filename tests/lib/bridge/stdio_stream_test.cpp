// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include <fcntl.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

using ReadState = LocalStream::ReadState;

struct StdioStreamTest : ::testing::Test {
  std::unique_ptr<LocalStream> bridge(int input, int output, StdioHalves halves = {}) {
    return make_stdio_stream(io, input, output, halves).value();
  }
  boost::asio::io_context io;
};

TEST_F(StdioStreamTest, CarriesBothDirectionsAtOnce) {
  Ends in = make_pipe();
  Ends out = make_pipe();
  const Bytes there = random_bytes(5 * kMiB);
  const Bytes back = random_bytes(3 * kMiB);
  const auto stream = bridge(in.read.release(), out.write.release());
  const auto producer = write_all_in_background(std::move(in.write), there);
  auto consumer = read_all_in_background(out.read.number());
  EXPECT_FALSE(write_all(io, *stream, back));
  EXPECT_TRUE(drain(io, *stream).bytes == there);
  EXPECT_FALSE(finish(io, *stream));
  EXPECT_TRUE(consumer.get() == back);
}

TEST_F(StdioStreamTest, ReadsAsEndedWhereReadingIsOff) {
  Ends in = make_pipe();
  Ends out = make_pipe();
  const auto stream = bridge(in.read.number(), out.write.release(), {.read = false});
  bool called = false;
  stream->async_wait_readable([&] { called = true; });
  EXPECT_FALSE(called);
  EXPECT_TRUE(run_until(io, [&] { return called; }));
  EXPECT_EQ(drain(io, *stream).last.state, ReadState::end);
  stream->abort();
  EXPECT_GE(::fcntl(in.read.number(), F_GETFD), 0) << "not ours to close";
}

TEST_F(StdioStreamTest, TakesAndDropsWhereWritingIsOff) {
  Ends in = make_pipe();
  Ends out = make_pipe();
  const auto stream = bridge(in.read.release(), out.write.number(), {.write = false});
  EXPECT_FALSE(write_all(io, *stream, random_bytes(8 * kMiB)));
  EXPECT_FALSE(finish(io, *stream));
  ASSERT_EQ(::write(out.write.number(), "x", 1), 1) << "not ours to close";
  char byte = 0;
  EXPECT_EQ(::read(out.read.number(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(StdioStreamTest, TakesOneSocketForBothHalves) {
  auto [ours, theirs] = make_socket_pair();
  const int number = ours.release();
  const auto stream = bridge(number, number);
  ASSERT_EQ(::write(theirs.number(), "in", 2), 2);
  ASSERT_EQ(::shutdown(theirs.number(), SHUT_WR), 0);
  EXPECT_EQ(drain(io, *stream).bytes, bytes_of("in"));
  EXPECT_FALSE(write_all(io, *stream, bytes_of("out")));
  auto consumer = read_all_in_background(theirs.number());
  EXPECT_FALSE(finish(io, *stream));
  EXPECT_EQ(consumer.get(), bytes_of("out"));
}

TEST_F(StdioStreamTest, CallsNoHandlerAfterAbort) {
  Ends in = make_pipe();
  Ends out = make_pipe();
  const auto stream = bridge(in.read.release(), out.write.release());
  stream->async_wait_readable([] { ADD_FAILURE() << "called after abort"; });
  const Bytes payload = bytes_of("x");
  stream->async_write_some(payload, [](std::error_code, std::size_t) { ADD_FAILURE() << "called after abort"; });
  stream->abort();
  run_ready(io);
  Bytes into(1);
  EXPECT_EQ(stream->read_some(into).state, ReadState::failed);
  stream->abort();
}

TEST_F(StdioStreamTest, HasTheNamesThatUsersKnow) {
  const auto stream = bridge(STDIN_FILENO, STDOUT_FILENO, {.read = false, .write = false});
  EXPECT_EQ(stream->source_name(), "stdin");
  EXPECT_EQ(stream->sink_name(), "stdout");
  EXPECT_EQ(bridge(7, 8, {.read = false, .write = false})->sink_name(), "descriptor 8");
}

}  // namespace
}  // namespace udtcat::bridge
