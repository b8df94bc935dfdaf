// SPDX-License-Identifier: Apache-2.0
#include "meet/peer_ledger.hpp"

#include <gtest/gtest.h>

namespace udtcat::meet {
namespace {

using namespace std::chrono_literals;

TEST(PeerLedger, GivesEachPeerItsShareAndNoMore) {
  PeerLedger ledger({.pairs = 3, .registrations = 3, .registrations_of_one = 2, .pairs_of_one = 2});
  EXPECT_TRUE(ledger.add_registration("a") && ledger.add_registration("a"));
  EXPECT_FALSE(ledger.add_registration("a"));
  EXPECT_TRUE(ledger.add_registration("b"));
  EXPECT_FALSE(ledger.add_registration("c")) << "all are given";
  EXPECT_TRUE(ledger.add_pair("a") && ledger.add_pair("a"));
  EXPECT_FALSE(ledger.add_pair("a"));
  EXPECT_TRUE(ledger.add_pair("b"));
  EXPECT_FALSE(ledger.add_pair("c"));
}

TEST(PeerLedger, TakesBackAndForgets) {
  PeerLedger ledger({.registrations = 1});
  for (int i = 0; i < 100; ++i) {
    const std::string peer = std::to_string(i);
    ASSERT_TRUE(ledger.add_registration(peer));
    ASSERT_TRUE(ledger.add_pair(peer));
    ledger.remove_registration(peer);
    ledger.remove_pair(peer);
  }
  EXPECT_EQ(ledger.peers(), 0U);
  EXPECT_EQ(ledger.registrations(), 0U);
  EXPECT_EQ(ledger.pairs(), 0U);
}

TEST(PeerLedger, CountsTheAsksOfASecond) {
  PeerLedger ledger({.asks_each_second = 2});
  PeerLedger::TimePoint now{1h};
  for (int second = 0; second < 3; ++second, now += 1s) {
    EXPECT_TRUE(ledger.add_ask("a", now) && ledger.add_ask("a", now));
    EXPECT_FALSE(ledger.add_ask("a", now + 900ms));
    EXPECT_TRUE(ledger.add_ask("b", now + 900ms));
  }
}

}  // namespace
}  // namespace udtcat::meet
