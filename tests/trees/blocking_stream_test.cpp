// SPDX-License-Identifier: Apache-2.0
#include "trees/blocking_stream.hpp"

#include <future>

#include "support/deadline.hpp"
#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

/// Takes so many bytes off a stream; fewer: it has ended.
Bytes taken(BlockingStream& stream, std::size_t bytes) {
  Bytes all;
  Bytes scratch;
  while (all.size() < bytes) {
    const auto there = stream.await(std::min(bytes - all.size(), BlockingStream::kRingBytes));
    if (!there || *there == 0) break;
    const auto piece = stream.peek(*there, scratch);
    all.insert(all.end(), piece.begin(), piece.end());
    stream.consume(*there);
  }
  return all;
}

TEST(BlockingStreams, CarryAllBytesInOrder) {
  JoinedStreams streams;
  const Bytes bytes = test::random_bytes(3 * BlockingStream::kRingBytes + 12'345);
  auto writing = std::async(std::launch::async, [&] {
    bool is_whole = true;
    for (std::size_t at = 0, piece = 1; at < bytes.size(); at += piece, piece = piece * 3 + 1) {
      piece = std::min(piece, bytes.size() - at);
      Bytes chunk(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at + piece));
      is_whole = is_whole && streams.here.write(std::move(chunk)).has_value();
    }
    streams.here.cut_unless_ended(test::kWatchdog);
    streams.here.finish();
    return is_whole;
  });
  EXPECT_TRUE(taken(streams.there, bytes.size()) == bytes);
  EXPECT_TRUE(writing.get());
  EXPECT_EQ(streams.there.await(1), 0U) << "the end, in order";
}

TEST(BlockingStreams, RecycleTheMemoryOfLargeChunks) {
  JoinedStreams streams;
  EXPECT_TRUE(streams.here.spare().empty()) << "nothing was written yet";
  Bytes large(1'000'000);
  const std::byte* const memory = large.data();
  ASSERT_TRUE(streams.here.write(std::move(large)));
  ASSERT_TRUE(streams.here.write(bytes_of("abc")));
  EXPECT_EQ(taken(streams.there, 1'000'003).size(), 1'000'003U);
  EXPECT_EQ(streams.here.spare().data(), memory);
}

TEST(BlockingStreams, GiveWhatIsThereBeforeTheEnd) {
  JoinedStreams streams;
  ASSERT_TRUE(streams.here.write(bytes_of("abc")));
  streams.here.cut_unless_ended(test::kWatchdog);
  streams.here.finish();
  EXPECT_EQ(streams.there.await(10), 3U);
  EXPECT_EQ(taken(streams.there, 10), bytes_of("abc"));
}

TEST(BlockingStreams, FailForThreadsThatWaitOnceCut) {
  JoinedStreams streams;
  auto reading = std::async(std::launch::async, [&] { return streams.here.await(1); });
  auto writing = std::async(std::launch::async, [&] {
    const Bytes much(BlockingStream::kRingBytes);
    Status written;
    while (written) written = streams.here.write(much);
    return written;
  });
  streams.here.cut();
  EXPECT_EQ(reading.get().error().code, Errc::connection_broken);
  EXPECT_EQ(writing.get().error().code, Errc::connection_broken);
  EXPECT_TRUE(streams.here.is_cut());
  EXPECT_TRUE(test::eventually(test::kWatchdog, [&] { return streams.there.is_cut(); })) << "the other end hears of it";
}

TEST(BlockingStreams, AreCutWhereTheOtherEndDoesNotEndInTime) {
  JoinedStreams streams;
  streams.here.cut_unless_ended(std::chrono::milliseconds(20));
  streams.here.finish();
  EXPECT_EQ(streams.there.await(1), 0U);
  EXPECT_EQ(streams.here.await(1).error().code, Errc::connection_broken);
}

TEST(BlockingStreams, AreCutOnceTheirLocalStreamIsGone) {
  boost::asio::io_context io;
  BlockingStream stream(io);
  stream.local_stream().reset();
  EXPECT_TRUE(stream.is_cut());
  EXPECT_FALSE(stream.write(bytes_of("x")));
}

TEST(BlockingStreams, WaitToBeCutForATimeAtMost) {
  boost::asio::io_context io;
  BlockingStream stream(io);
  EXPECT_FALSE(stream.wait_cut(std::chrono::milliseconds(1)));
  auto waiting = std::async(std::launch::async, [&] { return stream.wait_cut(std::chrono::hours(1)); });
  stream.cut();
  EXPECT_TRUE(waiting.get());
}

}  // namespace
}  // namespace udtcat::trees
