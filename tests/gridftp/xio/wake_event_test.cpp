#include "gridftp/xio/wake_event.hpp"

#include <gtest/gtest.h>

#include "gridftp/xio/waiting.hpp"

namespace udtcat::gridftp::xio {
namespace {

TEST(WakeEvent, IsReadableOnceHoweverOftenItIsRaised) {
  const auto event = WakeEvent::make();
  ASSERT_TRUE(event);
  EXPECT_FALSE(raised(*event, std::chrono::milliseconds(0)));
  event->raise();
  event->raise();
  EXPECT_TRUE(raised(*event, std::chrono::milliseconds(0)));
  EXPECT_FALSE(raised(*event, std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace udtcat::gridftp::xio
