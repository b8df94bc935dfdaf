// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/handshake_backlog.hpp"

#include <gtest/gtest.h>

namespace udtcat::connection {
namespace {

constexpr core::Prefix kFlood = 1;
constexpr core::Prefix kElsewhere = 2;

class HandshakeBacklogTest : public testing::Test {
 protected:
  std::optional<HandshakeBacklog::Id> come(bool proved, core::Prefix prefix) {
    return backlog.add(next++, proved, prefix);
  }
  void flood() {
    while (!backlog.full_of_unproved()) EXPECT_FALSE(come(false, kFlood));
  }
  HandshakeBacklog backlog;
  HandshakeBacklog::Id next = 1;
};

/// Proves: threat-model.stranger-places
TEST_F(HandshakeBacklogTest, DropsTheOldest) {
  for (int i = 0; i < 32; ++i) EXPECT_FALSE(come(false, kFlood)) << i;
  EXPECT_EQ(come(false, kFlood), 1U);
  EXPECT_EQ(come(false, kFlood), 2U);
}

/// Proves: threat-model.stranger-places
TEST_F(HandshakeBacklogTest, DropsOfThePrefixThatHasTheMost) {
  const auto first = come(false, kElsewhere);
  EXPECT_FALSE(first);
  flood();
  for (int i = 0; i < 100; ++i) EXPECT_NE(come(false, kFlood), 1U) << "the one from elsewhere, though it is the oldest";
}

TEST_F(HandshakeBacklogTest, IsSharedAmongPrefixes) {
  flood();
  for (std::size_t i = 0; i < kMaxUnprovedHandshakes / 2; ++i)
    EXPECT_LE(come(false, kElsewhere).value(), kMaxUnprovedHandshakes);
  EXPECT_GT(come(false, kElsewhere).value(), kMaxUnprovedHandshakes) << "no more than its share";
}

TEST_F(HandshakeBacklogTest, KeepsThoseThatProvedTheKeyApart) {
  flood();
  EXPECT_FALSE(come(true, kFlood));
  const auto proved = next - 1;
  for (int i = 0; i < 1000; ++i) EXPECT_NE(come(false, kFlood), proved);
}

TEST_F(HandshakeBacklogTest, OfThoseThatProvedTheKeyAreBoundedToo) {
  for (std::size_t i = 0; i < kMaxProvedHandshakes; ++i) EXPECT_FALSE(come(true, kElsewhere));
  EXPECT_EQ(come(true, kElsewhere), 1U);
}

TEST_F(HandshakeBacklogTest, OfThoseThatProvedTheKeyAreSharedAmongPrefixesToo) {
  EXPECT_FALSE(come(true, kElsewhere));
  for (std::size_t i = 1; i < kMaxProvedHandshakes; ++i) EXPECT_FALSE(come(true, kFlood));
  for (int i = 0; i < 1000; ++i) EXPECT_NE(come(true, kFlood), 1U) << "whoever has the listener's public key";
}

TEST_F(HandshakeBacklogTest, AreFreeAgainWhenSomebodyLeaves) {
  flood();
  backlog.remove(5);
  EXPECT_FALSE(backlog.full_of_unproved());
  EXPECT_FALSE(come(false, kElsewhere));
}

}  // namespace
}  // namespace udtcat::connection
