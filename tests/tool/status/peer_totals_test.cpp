// SPDX-License-Identifier: Apache-2.0
#include "tool/status/peer_totals.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "lib/bridge/fake_connection.hpp"

namespace udtcat::tool {
namespace {

ConnectionStats moved(std::uint64_t bytes) {
  ConnectionStats stats;
  stats.bytes_sent = bytes;
  stats.bytes_received = 2 * bytes;
  stats.packets_sent = 10;
  stats.packets_lost = 3;
  stats.ends.here.packets_sent = 10;
  stats.ends.here.packets_lost = 3;
  stats.ends.here.queued_lost = 1;
  stats.streams_open = 1;
  return stats;
}

PeerSnapshot connected(std::uint64_t number, const std::string& name, std::uint64_t bytes) {
  PeerSnapshot peer = snapshot_of(number, Endpoint{}, moved(bytes));
  peer.name = name;
  return peer;
}

PeerTotal total_of(const ProcessSnapshot& snapshot, const std::string& name) {
  const auto found = std::ranges::find(snapshot.peer_totals, name, &PeerTotal::name);
  EXPECT_NE(found, snapshot.peer_totals.end()) << name;
  return found == snapshot.peer_totals.end() ? PeerTotal{} : *found;
}

TEST(PeerTotals, AreOfThoseThatAreHereAndThoseThatHaveGone) {
  PeerTotals totals;
  for (int i = 0; i < 3; ++i) totals.come("alice");
  totals.come("bob");
  totals.leave("alice", moved(100));
  totals.leave("bob", moved(7));
  ProcessSnapshot snapshot;
  snapshot.peers = {connected(1, "alice", 10), connected(2, "alice", 1)};
  totals.add_to(snapshot);
  const PeerTotal alice = total_of(snapshot, "alice");
  EXPECT_EQ(alice.bytes_sent, 111U);
  EXPECT_EQ(alice.bytes_received, 222U);
  EXPECT_EQ(alice.handshakes, 3U);
  EXPECT_EQ(alice.sessions, 2U);
  EXPECT_EQ(alice.streams_open, 2U);
  EXPECT_EQ(alice.packets_sent, 30U);
  EXPECT_EQ(alice.packets_lost, 9U);
  EXPECT_EQ(alice.packets_lost_queued, 3U);
  EXPECT_EQ(alice.packets_lost_path, 6U);
  const PeerTotal bob = total_of(snapshot, "bob");
  EXPECT_EQ(bob.sessions, 0U) << "it stays, and has gone";
  EXPECT_EQ(bob.streams_open, 0U);
  EXPECT_EQ(bob.bytes_sent, 7U);
  EXPECT_EQ(totals.gone().bytes_sent, 107U);
  EXPECT_EQ(totals.gone().streams_open, 0U);
}

/// As over the system's TCP or libudt, which say what is lost, and nothing of queues.
ConnectionStats moved_without_queues() {
  ConnectionStats stats = moved(1);
  stats.ends.here = {};
  return stats;
}

TEST(PeerTotals, SayNothingOfThePathWhereNoQueueIsMeasured) {
  PeerTotals totals;
  totals.come("alice");
  totals.come("bob");
  totals.leave("alice", moved_without_queues());
  totals.leave("bob", moved_without_queues());
  totals.leave("bob", moved(1));
  ProcessSnapshot snapshot;
  totals.add_to(snapshot);
  EXPECT_EQ(total_of(snapshot, "alice").packets_lost, 3U);
  EXPECT_EQ(total_of(snapshot, "alice").packets_lost_path, std::nullopt);
  EXPECT_EQ(total_of(snapshot, "bob").packets_lost, 6U);
  EXPECT_EQ(total_of(snapshot, "bob").packets_lost_path, 2U);
}

TEST(PeerTotals, StandAsTheyWereWhereASessionGoes) {
  PeerTotals totals;
  totals.come("alice");
  ProcessSnapshot here;
  here.peers = {connected(1, "alice", 10)};
  totals.add_to(here);
  totals.leave("alice", moved(10));
  ProcessSnapshot gone;
  totals.add_to(gone);
  EXPECT_EQ(total_of(here, "alice").bytes_sent, total_of(gone, "alice").bytes_sent);
  EXPECT_EQ(total_of(here, "alice").handshakes, total_of(gone, "alice").handshakes);
}

/// Proves: metrics.no-addresses
TEST(PeerTotals, AreTakenFromAConnectionByTheNameOfItsKeyPair) {
  bridge::FakeConnection connection(resolve({"192.0.2.1", 9000}, AddressFamily::any)->front());
  PeerTotals totals;
  totals.come(connection);
  connection.identity = PeerIdentity{"alice", KeyPair::generate()->public_key()};
  totals.come(connection);
  totals.leave(connection);
  ProcessSnapshot snapshot;
  totals.add_to(snapshot);
  EXPECT_EQ(total_of(snapshot, "").handshakes, 1U);
  EXPECT_EQ(total_of(snapshot, "alice").handshakes, 1U);
  EXPECT_EQ(snapshot.peer_totals.size(), 2U) << "and none by an address";
}

TEST(PeerTotals, OfMoreNamesThanTheirBoundAreCountedTogetherAndNeverFall) {
  PeerTotals totals;
  for (std::size_t i = 0; i < kMostPeerTotals; ++i) totals.come("peer" + std::to_string(i));
  totals.come("late");
  totals.come("later");
  totals.come("");
  ProcessSnapshot snapshot;
  snapshot.peers = {connected(1, "late", 5), connected(2, "peer7", 1)};
  totals.add_to(snapshot);
  EXPECT_EQ(snapshot.peer_totals.size(), kMaxShownTotals);
  EXPECT_EQ(total_of(snapshot, std::string(kOtherPeers)).handshakes, 2U);
  EXPECT_EQ(total_of(snapshot, std::string(kOtherPeers)).bytes_sent, 5U);
  EXPECT_EQ(total_of(snapshot, "peer7").bytes_sent, 1U);
  totals.leave("late", moved(5));
  snapshot.peers.clear();
  totals.add_to(snapshot);
  EXPECT_EQ(total_of(snapshot, std::string(kOtherPeers)).bytes_sent, 5U);
  const auto read = parse_snapshot(to_json(snapshot));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->peer_totals.size(), kMaxShownTotals);
}

}  // namespace
}  // namespace udtcat::tool
