#include "lib/core/log.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

namespace udtcat::core {
namespace {

TEST(Log, IsSilentUntilItHasASink) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  log().critical("nobody hears this");
  EXPECT_EQ(testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout(), "");
}

TEST(Log, GoesToTheSinkOfTheProgram) {
  std::ostringstream text;
  set_logger(std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  log().warn("a peer was turned away");
  EXPECT_NE(text.str().find("a peer was turned away"), std::string::npos);
  set_logger(std::make_shared<spdlog::logger>("silent"));
}

}  // namespace
}  // namespace udtcat::core
