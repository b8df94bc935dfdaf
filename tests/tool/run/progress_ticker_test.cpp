// SPDX-License-Identifier: Apache-2.0
#include "tool/run/progress_ticker.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

class ProgressTickerTest : public testing::Test {
 protected:
  void watch() {
    ticker.watch([this] { return stats; });
  }
  static Options quiet() {
    Options options;
    options.progress = false;
    return options;
  }

  boost::asio::io_context io;
  Console console{STDERR_FILENO};
  ConnectionStats stats;
  ProgressTicker ticker{io, console, quiet()};
};

TEST_F(ProgressTickerTest, SaysWhatItWaitsForUntilThereIsAPeer) {
  EXPECT_EQ(ticker.state_text(), "no peer yet");
  ticker.wait_for("waiting for example.org");
  EXPECT_EQ(ticker.state_text(), "waiting for example.org (0:00)");
  watch();
  EXPECT_EQ(ticker.state_text().find("example.org"), std::string::npos);
}

TEST_F(ProgressTickerTest, SaysHowMuchHasMovedOfWhatIsKnown) {
  watch();
  ticker.measure([](const ConnectionStats& now) { return Amount{.done_bytes = now.bytes_sent, .all_bytes = 400}; });
  stats.bytes_sent = 100;
  EXPECT_NE(ticker.state_text().find("25 %"), std::string::npos) << ticker.state_text();
  EXPECT_EQ(ticker.sample().stats.bytes_sent, 100U);
}

TEST_F(ProgressTickerTest, HasNoTimerWhereNobodyWatches) {
  watch();
  EXPECT_FALSE(ticker.shows_progress());
  EXPECT_EQ(io.poll(), 0U);
  EXPECT_TRUE(io.stopped()) << "nothing is waited for";
}

}  // namespace
}  // namespace udtcat::tool
