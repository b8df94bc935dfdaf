#include "gridftp/gateway/late_stream.hpp"

#include <array>
#include <optional>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::gridftp {
namespace {

using bridge::bytes_of;
using bridge::run_ready;
using bridge::TcpPair;

struct LateStreamTest : ::testing::Test {
  /// The calls of the stream, in order; "line" when that is told.
  void write(std::string_view text) {
    stream->async_write_some(std::as_bytes(std::span(text)), [this](std::error_code error, std::size_t bytes) {
      written = {error, bytes};
    });
    EXPECT_FALSE(written) << "called from inside the call";
  }
  std::size_t take_written() {
    run_ready(io);
    const auto taken = std::exchange(written, std::nullopt);
    EXPECT_TRUE(!taken || !taken->first);
    return taken ? taken->second : 0;
  }

  boost::asio::io_context io;
  TcpPair pair{io};
  std::optional<Result<std::string>> line;
  LateStream::Attach attach;
  std::optional<std::pair<std::error_code, std::size_t>> written;
  std::unique_ptr<LateStream> stream =
      std::make_unique<LateStream>(io, 16, [this](const Result<std::string>& said, const LateStream::Attach& place) {
        EXPECT_FALSE(line) << "told twice";
        line = said;
        attach = place;
      });
};

TEST_F(LateStreamTest, TellsItsFirstLineHoweverItComes) {
  write("he");
  EXPECT_EQ(take_written(), 2U);
  EXPECT_FALSE(line);
  write("llo\nworld");
  EXPECT_EQ(take_written(), 4U) << "what is behind the line is not taken";
  ASSERT_TRUE(line && *line);
  EXPECT_EQ(**line, "hello");
}

TEST_F(LateStreamTest, HoldsEverythingUntilItIsAttached) {
  write("hello\n");
  EXPECT_EQ(take_written(), 6U);
  write("world");
  bool readable = false;
  stream->async_wait_readable([&] { readable = true; });
  std::byte byte{};
  EXPECT_EQ(stream->read_some(std::span(&byte, 1)).state, LocalStream::ReadState::would_block);
  EXPECT_EQ(take_written(), 0U);
  attach(make_tcp_stream(std::move(pair.ours)));
  EXPECT_TRUE(bridge::run_until(io, [&] { return written.has_value(); }));
  EXPECT_FALSE(readable);
  boost::asio::write(pair.theirs, boost::asio::buffer("!", 1));
  EXPECT_TRUE(bridge::run_until(io, [&] { return readable; }));
  EXPECT_EQ(stream->read_some(std::span(&byte, 1)).state, LocalStream::ReadState::data);
  EXPECT_EQ(byte, std::byte{'!'});
  EXPECT_FALSE(bridge::finish(io, *stream));
  EXPECT_EQ(bridge::read_all(pair.theirs.native_handle()), bytes_of("world"));
}

TEST_F(LateStreamTest, EndsWhatItIsAttachedToWhereThatWasAskedBefore) {
  write("hello\n");
  EXPECT_EQ(take_written(), 6U);
  std::optional<std::error_code> finished;
  stream->async_finish([&](std::error_code error) { finished = error; });
  attach(make_tcp_stream(std::move(pair.ours)));
  EXPECT_TRUE(bridge::run_until(io, [&] { return finished.has_value(); }));
  EXPECT_TRUE(bridge::read_all(pair.theirs.native_handle()).empty());
}

TEST_F(LateStreamTest, SaysWhyThereIsNoLine) {
  write("0123456789abcdefg\n");
  EXPECT_EQ(take_written(), 16U);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->error().message(), "take a stream of GridFTP: its first line is too long");
}

TEST_F(LateStreamTest, SaysThatItEndedBeforeItsLine) {
  write("hello");
  EXPECT_EQ(take_written(), 5U);
  stream->async_finish([](std::error_code) { FAIL() << "nobody has taken it"; });
  run_ready(io);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->error().code, Errc::stream_refused);
}

TEST_F(LateStreamTest, ResetsWhatComesTooLate) {
  write("hello\n");
  EXPECT_EQ(take_written(), 6U);
  stream->abort();
  attach(make_tcp_stream(std::move(pair.ours)));
  EXPECT_EQ(bridge::read_error(pair.theirs), boost::asio::error::connection_reset);
  TcpPair second(io);
  stream.reset();
  attach(make_tcp_stream(std::move(second.ours)));
  EXPECT_EQ(bridge::read_error(second.theirs), boost::asio::error::connection_reset);
}

TEST_F(LateStreamTest, SaysNothingOnceAborted) {
  write("hello\n");
  stream->abort();
  run_ready(io);
  EXPECT_FALSE(line);
  EXPECT_FALSE(written);
}

}  // namespace
}  // namespace udtcat::gridftp
