// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/stream_pair.hpp"

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

using ReadState = LocalStream::ReadState;

struct StreamPair : ::testing::Test {
  explicit StreamPair(LargeWrites large = LargeWrites::buffered) : pair(make_stream_pair(io, "pair", large)) {}
  boost::asio::io_context io;
  std::pair<std::unique_ptr<LocalStream>, std::unique_ptr<LocalStream>> pair;
  LocalStream& one = *pair.first;
  LocalStream& other = *pair.second;
  /// Writes so much that the writer waits for a reader.
  void fill() {
    EXPECT_FALSE(write_all(io, one, Bytes(kPairBytes)));
    one.async_write_some(more, [this](std::error_code error, std::size_t bytes) { outcome = {error, bytes}; });
    run_ready(io);
    EXPECT_FALSE(outcome);
  }
  const Bytes more = random_bytes(100);
  Bytes into = Bytes(1000);
  std::optional<std::pair<std::error_code, std::size_t>> outcome;
};

TEST_F(StreamPair, CarriesBothDirectionsToTheirEnds) {
  const Bytes there = random_bytes(kUncopiedBytes);
  const Bytes back = random_bytes(1000);
  EXPECT_FALSE(write_all(io, one, there));
  EXPECT_FALSE(write_all(io, other, back));
  std::optional<std::error_code> finished;
  one.async_finish([&](std::error_code error) { finished = error; });
  const Drained drained = drain(io, other);
  EXPECT_EQ(drained.last.state, ReadState::end);
  EXPECT_TRUE(drained.bytes == there);
  run_ready(io);
  EXPECT_EQ(finished, std::error_code());
  other.async_finish([](std::error_code) {});
  EXPECT_TRUE(drain(io, one).bytes == back);
}

TEST_F(StreamPair, LetsAWriterWaitForAReader) {
  fill();
  Bytes piece(10);
  EXPECT_EQ(other.read_some(piece).bytes, 10U);
  run_ready(io);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->first);
  EXPECT_EQ(outcome->second, 10U) << "as much as there was room for";
}

TEST_F(StreamPair, WakesAReader) {
  bool readable = false;
  other.async_wait_readable([&] { readable = true; });
  run_ready(io);
  EXPECT_FALSE(readable);
  EXPECT_FALSE(write_all(io, one, more));
  run_ready(io);
  EXPECT_TRUE(readable);
  Bytes piece(1000);
  EXPECT_EQ(other.read_some(piece).bytes, more.size());
}

TEST_F(StreamPair, TakesALargeWriteAtOnce) {
  EXPECT_FALSE(write_all(io, one, Bytes(kPairBytes)));
  EXPECT_EQ(other.read_some(into).bytes, into.size());
}

struct UncopiedStreamPair : StreamPair {
  UncopiedStreamPair() : StreamPair(LargeWrites::uncopied) {}
};

TEST_F(UncopiedStreamPair, ReadsALargeWriteFromTheWritersMemoryBehindWhatWasWrittenBefore) {
  EXPECT_FALSE(write_all(io, one, more));
  const Bytes large = random_bytes(kUncopiedBytes);
  one.async_write_some(large, [this](std::error_code error, std::size_t bytes) { outcome = {error, bytes}; });
  EXPECT_EQ(other.read_some(std::span(into).first(more.size())).bytes, more.size());
  EXPECT_TRUE(std::equal(more.begin(), more.end(), into.begin()));
  run_ready(io);
  EXPECT_FALSE(outcome) << "nothing of it is read yet";
  bool readable = false;
  other.async_wait_readable([&] { readable = true; });
  run_ready(io);
  EXPECT_TRUE(readable);
  EXPECT_EQ(other.read_some(into).bytes, into.size());
  EXPECT_TRUE(std::equal(into.begin(), into.end(), large.begin()));
  run_ready(io);
  EXPECT_EQ(outcome, std::pair(std::error_code(), into.size())) << "what was read of it";
}

TEST_F(StreamPair, FinishesWhenEverythingHasBeenRead) {
  EXPECT_FALSE(write_all(io, one, more));
  bool finished = false;
  one.async_finish([&](std::error_code error) { finished = !error; });
  run_ready(io);
  EXPECT_FALSE(finished);
  EXPECT_TRUE(drain(io, other).bytes == more);
  run_ready(io);
  EXPECT_TRUE(finished);
}

TEST_F(StreamPair, TellsTheOtherEndOfAnAbort) {
  EXPECT_FALSE(write_all(io, one, more));
  bool readable = false;
  one.async_wait_readable([] { ADD_FAILURE() << "called after abort"; });
  one.async_finish([](std::error_code) { ADD_FAILURE() << "called after abort"; });
  one.abort();
  other.async_wait_readable([&] { readable = true; });
  run_ready(io);
  EXPECT_TRUE(readable);
  const Drained drained = drain(io, other);
  EXPECT_EQ(drained.last.state, ReadState::failed);
  EXPECT_EQ(drained.last.error, std::errc::connection_reset);
  EXPECT_EQ(write_all(io, other, more), std::errc::connection_reset);
  EXPECT_EQ(finish(io, other), std::errc::connection_reset);
}

TEST_F(StreamPair, TellsAWaitingWriterThatItsReaderIsGone) {
  fill();
  pair.second.reset();
  run_ready(io);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->first, std::errc::connection_reset);
}

TEST_F(StreamPair, TellsAFinisherThatItsReaderIsGone) {
  EXPECT_FALSE(write_all(io, one, more));
  std::optional<std::error_code> finished;
  one.async_finish([&](std::error_code error) { finished = error; });
  pair.second.reset();
  run_ready(io);
  EXPECT_EQ(finished, std::errc::connection_reset);
}

TEST_F(StreamPair, KeepsAGracefulEnd) {
  one.async_finish([](std::error_code) {});
  run_ready(io);
  pair.first.reset();
  EXPECT_EQ(drain(io, other).last.state, ReadState::end);
}

TEST_F(StreamPair, CallsNoHandlerAfterDestruction) {
  fill();
  one.async_wait_readable([] { ADD_FAILURE() << "called after destruction"; });
  pair.first.reset();
  pair.second.reset();
  run_ready(io);
  EXPECT_FALSE(outcome);
}

TEST_F(StreamPair, DropsPostedHandlers) {
  one.async_write_some(more, [](std::error_code, std::size_t) { ADD_FAILURE() << "called after destruction"; });
  pair.first.reset();
  run_ready(io);
}

TEST_F(StreamPair, IsNamed) {
  EXPECT_EQ(one.source_name(), "pair");
  EXPECT_EQ(other.sink_name(), "pair");
}

}  // namespace
}  // namespace udtcat::bridge
