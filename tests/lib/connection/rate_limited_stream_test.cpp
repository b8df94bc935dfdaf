// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/rate_limited_stream.hpp"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_until.hpp"
#include "support/scripted_stream.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = 200'000;
constexpr auto kLeast = 140ms;       // what kBytes take at 8 Mbit/s, less the burst
constexpr auto kLeastToRead = 95ms;  // the same, less the last piece, after which nobody waits

class RateLimitedStreams : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<RateLimitedStream> stream() {
    return std::make_unique<RateLimitedStream>(io, std::make_unique<test::ScriptedStream>(io, script), rates);
  }
  /// Reads until `bytes` have come.
  void read_on(LocalStream& from, std::size_t bytes) {
    std::vector<std::byte> room(bytes);
    for (;;) {
      const auto read = from.read_some(room);
      read_bytes += read.bytes;
      if (read.state == LocalStream::ReadState::data) continue;
      ASSERT_EQ(read.state, LocalStream::ReadState::would_block);
      if (read_bytes < bytes) from.async_wait_readable([this, &from, bytes] { read_on(from, bytes); });
      return;
    }
  }
  void write_on(LocalStream& to, std::span<const std::byte> from) {
    if (from.empty()) return;
    to.async_write_some(from, [this, &to, from](std::error_code error, std::size_t bytes) {
      ASSERT_FALSE(error);
      ++writes;
      write_on(to, from.subspan(bytes));
    });
  }

  boost::asio::io_context io;
  const std::shared_ptr<test::Script> script = std::make_shared<test::Script>();
  const std::shared_ptr<core::PeerRates> rates =
      std::make_shared<core::PeerRates>(BitRate::from_bits_per_second(8'000'000));
  const std::vector<std::byte> data = std::vector<std::byte>(kBytes);
  std::size_t read_bytes = 0;
  int writes = 0;
};

TEST_F(RateLimitedStreams, GiveNoMoreThanTheRateAndAllOfIt) {
  const auto limited = stream();
  script->say(std::string(kBytes, 'x'));
  const auto begin = Clock::now();
  read_on(*limited, kBytes);
  ASSERT_TRUE(test::run_until(io, [&] { return read_bytes == kBytes; }));
  EXPECT_GE(Clock::now() - begin, kLeastToRead);
}

TEST_F(RateLimitedStreams, TakeNoMoreThanTheRateAndAllOfIt) {
  const auto limited = stream();
  const auto begin = Clock::now();
  write_on(*limited, data);
  ASSERT_TRUE(test::run_until(io, [&] { return script->received.size() == kBytes && writes == 4; }));
  EXPECT_GE(Clock::now() - begin, kLeast);
}

TEST_F(RateLimitedStreams, HaveOneRateTogether) {
  const auto one = stream(), other = stream();
  const auto begin = Clock::now();
  write_on(*one, data);
  write_on(*other, data);
  ASSERT_TRUE(test::run_until(io, [&] { return writes == 8; }));
  EXPECT_GE(Clock::now() - begin, 2 * kLeast);
}

TEST_F(RateLimitedStreams, HaveNoMoreTogetherWhereEachIsShort) {
  constexpr std::size_t kShort = 10'000;
  const auto begin = Clock::now();
  for (int i = 0; i < 20; ++i) {
    const auto brief = stream();
    bool has_begun = false;
    const std::size_t before = script->received.size();
    brief->async_write_some(std::span(data).first(kShort), [&](std::error_code, std::size_t) { has_begun = true; });
    ASSERT_TRUE(test::run_until(io, [&] { return has_begun || script->received.size() > before; }));
    brief->abort();
  }
  EXPECT_GE(Clock::now() - begin, kLeast) << "200 000 bytes, as of one";
  const auto reading = stream();
  std::ignore = rates->sent.pass(kBytes, Clock::now());
  script->say("x");
  std::vector<std::byte> room(1);
  EXPECT_EQ(reading->read_some(room).state, LocalStream::ReadState::would_block);
}

TEST_F(RateLimitedStreams, TellTheEndAndFailuresOfTheirSource) {
  const auto limited = stream();
  script->end_source();
  std::vector<std::byte> room(1);
  EXPECT_EQ(limited->read_some(room).state, LocalStream::ReadState::end);
  script->read_error = std::make_error_code(std::errc::io_error);
  EXPECT_EQ(limited->read_some(room).state, LocalStream::ReadState::failed);
}

TEST_F(RateLimitedStreams, CallNothingAfterTheirAbort) {
  const auto limited = stream();
  std::ignore = rates->received.pass(500'000, Clock::now());
  limited->async_write_some(data, [](std::error_code, std::size_t) { ADD_FAILURE(); });
  ASSERT_TRUE(test::run_until(io, [&] { return !script->received.empty(); }));
  limited->abort();
  EXPECT_TRUE(script->aborted);
  io.restart();
  io.run();  // to the end of all that waits
}

}  // namespace
}  // namespace udtcat::connection
