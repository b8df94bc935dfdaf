// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/gateway_stream.hpp"

#include <array>
#include <optional>

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

using bridge::bytes_of;
using bridge::run_ready;
using bridge::TcpPair;

GatewayGreeting data_to(const char* text) { return {parse_data_port(text).value()}; }

TEST(GatewayGreeting, IsThatOfTheWorkedExample) {
  const test::SpecExample example("gridftp.md", "gateway streams");
  EXPECT_EQ(to_line({}), example.text("control") + '\n');
  EXPECT_EQ(to_line(data_to("192,0,2,1,195,80")), example.text("data") + '\n');
}

TEST(GatewayGreeting, SurvivesItsEncoding) {
  for (const auto& greeting : {GatewayGreeting{}, data_to("0,0,0,0,0,0"), data_to("255,255,255,255,255,255")}) {
    std::string line = to_line(greeting);
    EXPECT_LE(line.size(), kMaxGreetingBytes);
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

struct PrefixedStreamTest : ::testing::Test {
  boost::asio::io_context io;
  TcpPair pair{io};
  PrefixedStream stream{"hello\n", make_tcp_stream(std::move(pair.ours))};
};

TEST_F(PrefixedStreamTest, ReadsAsItsGreetingAndThenAsTheStream) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, std::size_t{100}}) {
    TcpPair other(io);
    PrefixedStream greeted("hello\n", make_tcp_stream(std::move(other.ours)));
    boost::asio::write(other.theirs, boost::asio::buffer("world", 5));
    other.theirs.shutdown(bridge::tcp::socket::shutdown_send);
    const auto drained = bridge::drain(io, greeted, piece);
    EXPECT_EQ(drained.bytes, bytes_of("hello\nworld")) << piece;
    EXPECT_EQ(drained.last.state, LocalStream::ReadState::end);
  }
}

TEST_F(PrefixedStreamTest, IsTheStreamInAllElse) {
  EXPECT_FALSE(bridge::write_all(io, stream, bytes_of("answer")));
  EXPECT_FALSE(bridge::finish(io, stream));
  EXPECT_EQ(bridge::read_all(pair.theirs.native_handle()), bytes_of("answer"));
  EXPECT_EQ(stream.sink_name(), stream.source_name());
}

TEST_F(PrefixedStreamTest, ResetsTheStreamWhenAborted) {
  stream.abort();
  EXPECT_EQ(bridge::read_error(pair.theirs), boost::asio::error::connection_reset);
}

// ---- Accepted ------------------------------------------------------------------------------------------------------

struct DeferredStreamTest : ::testing::Test {
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
  DeferredStream::Attach attach;
  std::optional<std::pair<std::error_code, std::size_t>> written;
  std::unique_ptr<DeferredStream> stream = std::make_unique<DeferredStream>(
      io, 16, [this](const Result<std::string>& said, const DeferredStream::Attach& location) {
        EXPECT_FALSE(line) << "told twice";
        line = said;
        attach = location;
      });
};

TEST_F(DeferredStreamTest, GivesItsFirstLineInAnyPieces) {
  write("he");
  EXPECT_EQ(take_written(), 2U);
  EXPECT_FALSE(line);
  write("llo\nworld");
  EXPECT_EQ(take_written(), 4U) << "what is behind the line is not taken";
  ASSERT_TRUE(line && *line);
  EXPECT_EQ(**line, "hello");
}

TEST_F(DeferredStreamTest, TakesNothingUntilItIsAttached) {
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

TEST_F(DeferredStreamTest, EndsWhatItIsAttachedToWhereThatWasAskedBefore) {
  write("hello\n");
  EXPECT_EQ(take_written(), 6U);
  std::optional<std::error_code> finished;
  stream->async_finish([&](std::error_code error) { finished = error; });
  attach(make_tcp_stream(std::move(pair.ours)));
  EXPECT_TRUE(bridge::run_until(io, [&] { return finished.has_value(); }));
  EXPECT_TRUE(bridge::read_all(pair.theirs.native_handle()).empty());
}

TEST_F(DeferredStreamTest, SaysWhyThereIsNoLine) {
  write("0123456789abcdefg\n");
  EXPECT_EQ(take_written(), 16U);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->error().message(), "take a stream of GridFTP: its first line is too long");
}

TEST_F(DeferredStreamTest, SaysThatItEndedBeforeItsLine) {
  write("hello");
  EXPECT_EQ(take_written(), 5U);
  stream->async_finish([](std::error_code) { FAIL() << "nobody has taken it"; });
  run_ready(io);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->error().code, Errc::stream_refused);
}

TEST_F(DeferredStreamTest, ResetsWhatComesTooLate) {
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

TEST_F(DeferredStreamTest, CallsNoHandlerOnceAborted) {
  write("hello\n");
  stream->abort();
  run_ready(io);
  EXPECT_FALSE(line);
  EXPECT_FALSE(written);
}

}  // namespace
}  // namespace udtcat::gridftp
