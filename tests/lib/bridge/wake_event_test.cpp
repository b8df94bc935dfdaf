// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/wake_event.hpp"

#include <poll.h>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

using Wake = WakeEvent::Wake;

TEST(WakeEvent, SaysReadyWhenTheDescriptorIs) {
  const WakeEvent event = WakeEvent::make().value();
  const Ends pipe = make_pipe();
  EXPECT_EQ(event.wait(pipe.write.number(), POLLOUT), Wake::ready);
}

TEST(WakeEvent, StaysRaised) {
  const WakeEvent event = WakeEvent::make().value();
  const Ends pipe = make_pipe();
  event.raise();
  event.raise();
  EXPECT_EQ(event.wait(pipe.write.number(), POLLOUT), Wake::raised);
  EXPECT_EQ(event.wait_for(kWatchdog), Wake::raised);
}

TEST(WakeEvent, IsReadableOnceHoweverOftenItIsRaised) {
  const WakeEvent event = WakeEvent::make().value();
  event.raise();
  event.raise();
  Bytes count(WakeEvent::kBytes);
  EXPECT_EQ(::read(event.number(), count.data(), count.size()), WakeEvent::kBytes);
  EXPECT_EQ(event.wait_for(std::chrono::milliseconds(0)), Wake::timeout);
}

TEST(WakeEvent, WakesAWaitInAnotherThread) {
  const WakeEvent event = WakeEvent::make().value();
  const Ends pipe = make_pipe();
  auto waiting = std::async(std::launch::async, [&] { return event.wait(pipe.read.number(), POLLIN); });
  event.raise();
  EXPECT_EQ(waiting.get(), Wake::raised);
}

TEST(WakeEvent, SaysTimeoutOtherwise) {
  EXPECT_EQ(WakeEvent::make().value().wait_for(std::chrono::milliseconds(1)), Wake::timeout);
}

}  // namespace
}  // namespace udtcat::bridge
