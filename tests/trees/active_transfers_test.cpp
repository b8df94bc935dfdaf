// SPDX-License-Identifier: Apache-2.0
#include "trees/active_transfers.hpp"

#include <atomic>
#include <future>

#include <gmock/gmock.h>

#include "trees/blocking_stream.hpp"

namespace udtcat::trees {
namespace {

/// Of a transfer from a host, whose stream is cut where it is ended, and which is over then.
ActiveTransfers::Owner owner(BlockingStream& stream, std::uint64_t host = 1) {
  return {.host = host,
          .address = "192.0.2.7:5555",
          .end = [&stream](const Error&) { stream.cut(); },
          .is_over = [&stream] { return stream.is_cut(); }};
}

TEST(ActiveTransfers, LeaveOtherTransfersAlone) {
  boost::asio::io_context io;
  ActiveTransfers active;
  BlockingStream first(io);
  BlockingStream other(io);
  const auto slot = active.enter("first", "", owner(first)).value();
  { const auto ended = active.enter("other", "", owner(other)).value(); }
  const auto again = active.enter("other", "", owner(other)).value();
  EXPECT_FALSE(first.is_cut());
  EXPECT_FALSE(other.is_cut()) << "it had ended before";
}

TEST(ActiveTransfers, EndTheirEarlierTransferAndWaitUntilItIsGone) {
  boost::asio::io_context io;
  ActiveTransfers active;
  BlockingStream first(io);
  BlockingStream again(io);
  std::promise<void> entered;
  std::atomic<bool> is_over{false};
  auto earlier = std::async(std::launch::async, [&] {
    const auto slot = active.enter("same", "apart", owner(first)).value();
    entered.set_value();
    const bool is_there = first.await(1).has_value();
    EXPECT_THAT(slot->replaced().value().message(),
                testing::HasSubstr("replaced by the same transfer, begun again from 192.0.2.7:5555"));
    is_over = true;
    return is_there;
  });
  entered.get_future().wait();
  const auto later = active.enter("same", "apart", owner(again)).value();
  EXPECT_TRUE(is_over);
  EXPECT_TRUE(first.is_cut());
  EXPECT_FALSE(again.is_cut());
  EXPECT_FALSE(later->replaced());
  EXPECT_FALSE(earlier.get());
}

TEST(ActiveTransfers, GiveAnIdenticalHostANameOfItsOwn) {
  boost::asio::io_context io;
  ActiveTransfers active;
  BlockingStream here(io);
  BlockingStream there(io);
  {
    const auto first = active.enter("same", "first's", owner(here, 1)).value();
    const auto other = active.enter("same", "other's", owner(there, 2)).value();
    EXPECT_EQ(first->name(), "same");
    EXPECT_EQ(other->name(), "other's");
    EXPECT_FALSE(here.is_cut());
  }
  EXPECT_EQ(active.enter("same", "other's", owner(there, 2)).value()->name(), "other's") << "where its parts are";
  EXPECT_EQ(active.enter("same", "first's", owner(here, 1)).value()->name(), "same");
}

TEST(ActiveTransfers, ReplaceASilentSenderFromAnyAddress) {
  boost::asio::io_context io;
  ActiveTransfers active;
  BlockingStream first(io);
  BlockingStream again(io);
  std::promise<void> entered;
  auto earlier = std::async(std::launch::async, [&] {
    auto silent = owner(first, 1);
    silent.is_silent = [] { return true; };
    const auto slot = active.enter("same", "first's", std::move(silent)).value();
    entered.set_value();
    return first.await(1).has_value();
  });
  entered.get_future().wait();
  EXPECT_EQ(active.enter("same", "again's", owner(again, 2)).value()->name(), "same") << "it has another address now";
  EXPECT_FALSE(earlier.get());
}

TEST(ActiveTransfers, DoNotWaitOnceTheyAreOverThemselves) {
  boost::asio::io_context io;
  ActiveTransfers active;
  BlockingStream first(io);
  BlockingStream again(io);
  const auto slot = active.enter("same", "apart", owner(first)).value();
  auto waiting =
      std::async(std::launch::async, [&] { return active.enter("same", "apart", owner(again)).has_value(); });
  EXPECT_FALSE(first.await(1)) << "the other one waits for its end";
  again.cut();
  EXPECT_FALSE(waiting.get());
  EXPECT_EQ(slot->name(), "same");
}

}  // namespace
}  // namespace udtcat::trees
