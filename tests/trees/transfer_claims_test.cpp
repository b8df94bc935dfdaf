// SPDX-License-Identifier: Apache-2.0
#include "trees/transfer_claims.hpp"

#include <atomic>
#include <future>

#include <gmock/gmock.h>

#include "trees/blocking_stream.hpp"

namespace udtcat::trees {
namespace {

/// Of a transfer from a host, whose stream is cut where it is ended.
TransferClaims::Claimant claimant(BlockingStream& stream, std::uint64_t host = 1) {
  return {.host = host, .address = "192.0.2.7:5555", .end = [&stream](const Error&) { stream.cut(); }};
}

TEST(TransferClaims, LeaveOtherTransfersAlone) {
  boost::asio::io_context io;
  TransferClaims claims;
  BlockingStream first(io);
  BlockingStream other(io);
  const auto claim = claims.claim("first", "", claimant(first));
  { const auto ended = claims.claim("other", "", claimant(other)); }
  const auto again = claims.claim("other", "", claimant(other));
  EXPECT_FALSE(first.is_cut());
  EXPECT_FALSE(other.is_cut()) << "it had ended before";
}

TEST(TransferClaims, EndTheirEarlierTransferAndWaitUntilItIsGone) {
  boost::asio::io_context io;
  TransferClaims claims;
  BlockingStream first(io);
  BlockingStream again(io);
  std::promise<void> claimed;
  std::atomic<bool> is_over{false};
  auto earlier = std::async(std::launch::async, [&] {
    const auto claim = claims.claim("same", "apart", claimant(first));
    claimed.set_value();
    const bool is_there = first.await(1).has_value();
    EXPECT_THAT(claim.replaced().value().message(),
                testing::HasSubstr("replaced by the same transfer, begun again from 192.0.2.7:5555"));
    is_over = true;
    return is_there;
  });
  claimed.get_future().wait();
  const auto later = claims.claim("same", "apart", claimant(again));
  EXPECT_TRUE(is_over);
  EXPECT_TRUE(first.is_cut());
  EXPECT_FALSE(again.is_cut());
  EXPECT_FALSE(later.replaced());
  EXPECT_FALSE(earlier.get());
}

TEST(TransferClaims, GiveAnIdenticalHostANameOfItsOwn) {
  boost::asio::io_context io;
  TransferClaims claims;
  BlockingStream here(io);
  BlockingStream there(io);
  {
    const auto first = claims.claim("same", "first's", claimant(here, 1));
    const auto other = claims.claim("same", "other's", claimant(there, 2));
    EXPECT_EQ(first.name(), "same");
    EXPECT_EQ(other.name(), "other's");
    EXPECT_FALSE(here.is_cut());
  }
  EXPECT_EQ(claims.claim("same", "other's", claimant(there, 2)).name(), "other's") << "where its parts are";
  EXPECT_EQ(claims.claim("same", "first's", claimant(here, 1)).name(), "same");
}

TEST(TransferClaims, ReplaceASilentSenderFromAnyAddress) {
  boost::asio::io_context io;
  TransferClaims claims;
  BlockingStream first(io);
  BlockingStream again(io);
  std::promise<void> claimed;
  auto earlier = std::async(std::launch::async, [&] {
    auto silent = claimant(first, 1);
    silent.is_silent = [] { return true; };
    const auto claim = claims.claim("same", "first's", std::move(silent));
    claimed.set_value();
    return first.await(1).has_value();
  });
  claimed.get_future().wait();
  EXPECT_EQ(claims.claim("same", "again's", claimant(again, 2)).name(), "same") << "it has another address now";
  EXPECT_FALSE(earlier.get());
}

}  // namespace
}  // namespace udtcat::trees
