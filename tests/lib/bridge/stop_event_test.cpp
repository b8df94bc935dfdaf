#include "lib/bridge/stop_event.hpp"

#include <poll.h>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

using Wake = StopEvent::Wake;

TEST(StopEvent, SaysReadyWhenTheDescriptorIs) {
  const StopEvent stop = StopEvent::make().value();
  const Ends pipe = make_pipe();
  EXPECT_EQ(stop.wait(pipe.write.number(), POLLOUT), Wake::ready);
}

TEST(StopEvent, StaysRequested) {
  const StopEvent stop = StopEvent::make().value();
  const Ends pipe = make_pipe();
  stop.request();
  stop.request();
  EXPECT_EQ(stop.wait(pipe.write.number(), POLLOUT), Wake::stop);
  EXPECT_EQ(stop.wait_for(kWatchdog), Wake::stop);
}

TEST(StopEvent, WakesAWaitInAnotherThread) {
  const StopEvent stop = StopEvent::make().value();
  const Ends pipe = make_pipe();
  auto waiting = std::async(std::launch::async, [&] { return stop.wait(pipe.read.number(), POLLIN); });
  stop.request();
  EXPECT_EQ(waiting.get(), Wake::stop);
}

TEST(StopEvent, SaysTimeoutOtherwise) {
  EXPECT_EQ(StopEvent::make().value().wait_for(std::chrono::milliseconds(1)), Wake::timeout);
}

}  // namespace
}  // namespace udtcat::bridge
