// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/pending_call.hpp"

#include <thread>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

TEST(PendingCall, CallsFromTheLoopAndOnce) {
  boost::asio::io_context io;
  PendingCall<int> call(io);
  int sum = 0;
  call.expect([&](int value) { sum += value; });
  call.complete(3);
  call.complete(4);
  EXPECT_EQ(sum, 0);
  run_ready(io);
  EXPECT_EQ(sum, 3);
}

TEST(PendingCall, KeepsTheLoopRunningUntilItsCall) {
  boost::asio::io_context io;
  PendingCall<> call(io);
  bool called = false;
  call.expect([&] { called = true; });
  std::thread worker([&] { call.complete(); });
  io.run();
  worker.join();
  EXPECT_TRUE(called);
}

TEST(PendingCall, CanBeExpectedAgainFromItsHandler) {
  boost::asio::io_context io;
  PendingCall<> call(io);
  int calls = 0;
  const std::function<void()> again = [&] {
    if (++calls == 3) return;
    call.expect(again);
    call.complete();
  };
  call.expect(again);
  call.complete();
  io.run();
  EXPECT_EQ(calls, 3);
}

TEST(PendingCall, CallsNoHandlerAfterDropOrDestruction) {
  boost::asio::io_context io;
  PendingCall<> dropped(io);
  auto destroyed = std::make_unique<PendingCall<>>(io);
  for (PendingCall<>* call : {&dropped, destroyed.get()}) {
    call->expect([] { ADD_FAILURE(); });
    call->complete();
  }
  dropped.drop();
  destroyed.reset();
  io.run();
}

}  // namespace
}  // namespace udtcat::bridge
