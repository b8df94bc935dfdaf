// SPDX-License-Identifier: Apache-2.0
/// Acceptance 14: an interactive line doesn't wait for a block to fill, nor for anybody's timer.
#include <algorithm>
#include <array>
#include <cstdio>

#include <poll.h>
#include <unistd.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr std::size_t kLineBytes = 64;

/// A way through udtcat: what is written here comes out there.
struct Way {
  Pipe in = make_pipe();
  Pipe out = make_pipe();

  [[nodiscard]] bool carry(std::array<char, kLineBytes>& line) const {
    if (::write(in.writing.fd(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) return false;
    for (std::size_t filled = 0; filled < line.size();) {
      pollfd readable{.fd = out.reading.fd(), .events = POLLIN, .revents = 0};
      if (::poll(&readable, 1, static_cast<int>(kTransferLimit.count())) <= 0) return false;
      const auto got = ::read(out.reading.fd(), line.data() + filled, line.size() - filled);
      if (got <= 0) return false;
      filled += static_cast<std::size_t>(got);
    }
    return true;
  }
};

class Latency : public UdtcatTest {};

TEST_F(Latency, OfAShortLineThereAndBackIsUnderAMillisecond_Serial) {
  constexpr auto kLimit = patience(1ms);
  Way there;
  Way back;
  Process listener = listen({.in = std::move(back.in.reading), .out = std::move(there.out.writing)});
  Process connector = connect({.in = std::move(there.in.reading), .out = std::move(back.out.writing)});
  std::array<char, kLineBytes> line{};
  ASSERT_TRUE(there.carry(line) && back.carry(line)) << connector.errors() << listener.errors();

  std::vector<Clock::duration> rounds(1000);
  for (auto& round : rounds) {
    const auto begin = Clock::now();
    ASSERT_TRUE(there.carry(line) && back.carry(line)) << connector.errors() << listener.errors();
    round = Clock::now() - begin;
  }
  std::sort(rounds.begin(), rounds.end());
  const auto in_us = [](Clock::duration duration) {
    return std::chrono::duration<double, std::micro>(duration).count();
  };
  const auto median = rounds[rounds.size() / 2];
  std::printf("64 B there and back, of %zu rounds: median %.0f us, 99th percentile %.0f us, worst %.0f us\n",
              rounds.size(), in_us(median), in_us(rounds[rounds.size() * 99 / 100]), in_us(rounds.back()));
  RecordProperty("median_us", std::to_string(in_us(median)));
  EXPECT_LT(rounds[rounds.size() / 10], kLimit) << "a busy machine delays most of them, a timer of ours all";
}

}  // namespace
}  // namespace udtcat::test::e2e
