// SPDX-License-Identifier: Apache-2.0
#include "tool/run/transfer_event.hpp"

#include <gtest/gtest.h>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;

TEST(TransferEvent, SaysWhoHasMovedWhatHowMuchAndHowLong) {
  const LogEvent event = transfer_event({.peer = "alice",
                                         .address = "192.0.2.1:4711",
                                         .object = "photos",
                                         .direction = kReceived,
                                         .bytes_received = 80'000'000,
                                         .files = 20,
                                         .duration = 12s});
  EXPECT_EQ(event.message, "alice (192.0.2.1:4711): photos: 20 files, 80.0 MB received in 0:12");
  EXPECT_EQ(event.result, kComplete);
  EXPECT_EQ(event.severity, Severity::notice);
}

TEST(TransferEvent, ThatFailedSaysWhyAndWhatHadMoved) {
  const LogEvent event = transfer_event({.address = "192.0.2.1:4711",
                                         .object = "stream",
                                         .bytes_sent = 1'000,
                                         .bytes_received = 2'000,
                                         .duration = 1s,
                                         .result = fail(Errc::peer_lost, "hear from the peer", "silence")});
  EXPECT_EQ(event.message,
            "192.0.2.1:4711: stream: hear from the peer: silence; 1.00 kB sent, 2.00 kB received in 0:01");
  EXPECT_EQ(event.result, "hear from the peer: silence");
  EXPECT_EQ(event.direction, kBoth);
  EXPECT_EQ(event.severity, Severity::error);
}

TEST(TransferEvent, OfNothingHasTheDirectionInWhichItWasAsked) {
  const LogEvent empty = transfer_event({.address = "a", .direction = kReceived, .files = 1});
  EXPECT_EQ(empty.message, "a: 1 file, 0 B received in 0:00");
  EXPECT_EQ(empty.direction, kReceived);
  EXPECT_FALSE(transfer_event({.address = "a"}).direction);
}

TEST(PeerEvent, NamesTheKeyOfAPeerThatHasOne) {
  bridge::FakeConnection connection{bridge::loopback_v4()};
  EXPECT_FALSE(peer_event(EventKind::peer_up, connection).peer);
  connection.identity = PeerIdentity{"alice", KeyPair::generate()->public_key()};
  connection.current_stats.bytes_sent = 7;
  EXPECT_EQ(peer_event(EventKind::peer_up, connection).peer, "alice");
  EXPECT_EQ(transfer_of(connection, "stream", {}).bytes_sent, 7U);
  EXPECT_EQ(transfer_of(connection, "stream", {}).peer, "alice");
}

}  // namespace
}  // namespace udtcat::tool
