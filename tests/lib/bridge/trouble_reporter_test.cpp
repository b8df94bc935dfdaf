#include "lib/bridge/trouble_reporter.hpp"

#include <vector>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

struct TroubleReporterTest : ::testing::Test {
  boost::asio::io_context io;
  std::vector<std::string> told;
  TroubleReporter reporter{io, [this](const Endpoint&, const Error& error) { told.push_back(error.message()); }};
};

TEST_F(TroubleReporterTest, TellsTheFirstAtOnceAndWantsNoTimerForIt) {
  reporter.report({}, {Errc::stream_refused, "a", "b"});
  EXPECT_EQ(told, std::vector<std::string>{"a: b"});
  EXPECT_EQ(io.poll(), 0U);
  EXPECT_TRUE(io.stopped()) << "nothing is left to wait for";
}

TEST_F(TroubleReporterTest, WaitsToTellTheNextOfItsKind) {
  reporter.report({}, {Errc::stream_refused, "a", "b"});
  reporter.report({}, {Errc::stream_refused, "a", "b"});
  io.poll();
  EXPECT_EQ(told.size(), 1U);
  EXPECT_FALSE(io.stopped()) << "the timer is set";
}

}  // namespace
}  // namespace udtcat::bridge
