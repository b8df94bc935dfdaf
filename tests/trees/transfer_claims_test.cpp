// SPDX-License-Identifier: Apache-2.0
#include "trees/transfer_claims.hpp"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

TEST(TransferClaims, OfAnotherNameAreLeftAlone) {
  boost::asio::io_context io;
  TransferClaims claims;
  Wire first(io);
  Wire other(io);
  const auto claim = claims.claim("first", first);
  { const auto ended = claims.claim("other", other); }
  const auto again = claims.claim("other", other);
  EXPECT_FALSE(first.is_cut());
  EXPECT_FALSE(other.is_cut()) << "it had ended before";
}

TEST(TransferClaims, CutTheirEarlierWireAndWaitUntilItIsGone) {
  boost::asio::io_context io;
  TransferClaims claims;
  Wire first(io);
  Wire again(io);
  std::promise<void> claimed;
  std::atomic<bool> is_over{false};
  auto earlier = std::async(std::launch::async, [&] {
    const auto claim = claims.claim("same", first);
    claimed.set_value();
    const bool is_there = first.await(1).has_value();
    EXPECT_TRUE(claim.is_taken_over());
    is_over = true;
    return is_there;
  });
  claimed.get_future().wait();
  const auto later = claims.claim("same", again);
  EXPECT_TRUE(is_over);
  EXPECT_TRUE(first.is_cut());
  EXPECT_FALSE(again.is_cut());
  EXPECT_FALSE(later.is_taken_over());
  EXPECT_FALSE(earlier.get());
}

}  // namespace
}  // namespace udtcat::trees
