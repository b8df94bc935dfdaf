// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/close_handshake.hpp"

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kCloseTime{std::chrono::hours(1)};

Close close_after(Errc code) {
  CloseHandshake closing;
  closing.break_off({code, "do it", "because"});
  return closing.begin(kCloseTime);
}

TEST(CloseHandshake, SaysDoneAndWaitsAMinuteForThePeers) {
  CloseHandshake closing;
  EXPECT_FALSE(closing.deadline());
  closing.close();
  EXPECT_EQ(closing.begin(kCloseTime).reason, CloseReason::done);
  EXPECT_EQ(closing.deadline(), kCloseTime + 60s);
  EXPECT_FALSE(closing.sent()) << "it may wait for a block";
  closing.on_sent();
  EXPECT_FALSE(closing.received());
  closing.on_received();
  EXPECT_TRUE(closing.sent() && closing.received());
  EXPECT_FALSE(closing.has_ended());
  EXPECT_TRUE(closing.outcome());
}

TEST(CloseHandshake, KnowsThePeersCloseBeforeItsOwn) {
  CloseHandshake closing;
  closing.on_received();
  EXPECT_FALSE(closing.sent());
  closing.on_sent();
  EXPECT_TRUE(closing.sent() && closing.received());
}

TEST(CloseHandshake, TellsThePeerWhyItBreaksOff) {
  EXPECT_EQ(close_after(Errc::interrupted).reason, CloseReason::interrupted);
  EXPECT_EQ(close_after(Errc::interrupted).text, "because");
  EXPECT_EQ(close_after(Errc::tampered).reason, CloseReason::tampered);
  EXPECT_EQ(close_after(Errc::protocol_violated).reason, CloseReason::protocol_violated);
  EXPECT_EQ(close_after(Errc::local_read_failed).reason, CloseReason::failed);
  EXPECT_EQ(close_after(Errc::local_read_failed).text, "do it: because");
}

TEST(CloseHandshake, EndsWithTheErrorThatBrokeTheConnection) {
  CloseHandshake closing;
  closing.break_off({Errc::tampered, "open", "forged"});
  EXPECT_TRUE(closing.has_ended());
  std::ignore = closing.begin(kCloseTime);
  EXPECT_EQ(closing.deadline(), kCloseTime + 2s);
  EXPECT_EQ(closing.outcome().error().code, Errc::tampered);
  closing.end();
  EXPECT_TRUE(closing.is_over());
}

TEST(CloseHandshake, TakesThePeersReasonForAnError) {
  const Endpoint peer = test::address_of("192.0.2.1", 9000);
  EXPECT_EQ(error_of({CloseReason::interrupted, "by SIGINT"}, peer).code, Errc::peer_interrupted);
  EXPECT_EQ(error_of({CloseReason::tampered, ""}, peer).code, Errc::peer_reports_tampering);
  EXPECT_EQ(error_of({CloseReason::failed, "disk full"}, peer).cause, "disk full");
  EXPECT_EQ(error_of({CloseReason::done, ""}, peer).code, Errc::connection_broken);
}

}  // namespace
}  // namespace udtcat::connection
