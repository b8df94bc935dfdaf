// SPDX-License-Identifier: Apache-2.0
#include "tool/status/transfer_totals.hpp"

#include <gtest/gtest.h>

#include "tool/run/event_log.hpp"
#include "tool/run/transfer_event.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;

LogEvent ended_transfer(const std::string& peer, std::uint64_t received, const Status& result = {}) {
  return transfer_event({.peer = peer,
                         .address = "192.0.2.1:1",
                         .object = "photos",
                         .direction = kReceived,
                         .bytes_received = received,
                         .files = 20,
                         .result = result});
}

const Status kCutStatus = fail(Errc::peer_lost, "receive", "silence");
const std::chrono::system_clock::time_point kEndedAt{1'796'000'000s};

TEST(TransferTotals, CountThoseThatWereCompleteAndThoseThatFailed) {
  TransferTotals totals;
  totals.count(ended_transfer("alice", 100), kEndedAt);
  totals.count(ended_transfer("alice", 10, kCutStatus), kEndedAt + 5s);
  totals.count(ended_transfer("bob", 1), kEndedAt + 6s);
  totals.count({.kind = EventKind::peer_up, .peer = "alice"}, kEndedAt + 7s);
  const auto all = totals.totals();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].peer, "alice");
  EXPECT_EQ(all[0].direction, "received");
  EXPECT_EQ(all[0].complete, 1U);
  EXPECT_EQ(all[0].failed, 1U);
  EXPECT_EQ(all[0].bytes, 110U);
  EXPECT_EQ(all[0].files, 40U);
  EXPECT_EQ(all[0].last_complete, kEndedAt);
  EXPECT_EQ(all[0].last_failed, kEndedAt + 5s);
  EXPECT_EQ(all[1].peer, "bob");
  EXPECT_FALSE(all[1].last_failed);
}

TEST(TransferTotals, AreByDirectionAndOfNoneWhereNothingWasMoved) {
  TransferTotals totals;
  totals.count(transfer_event({.address = "192.0.2.1:1"}), kEndedAt);
  totals.count(transfer_event({.address = "192.0.2.1:1", .bytes_sent = 3, .bytes_received = 4}), kEndedAt);
  const auto all = totals.totals();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].direction, "");
  EXPECT_EQ(all[1].direction, "both");
  EXPECT_EQ(all[1].bytes, 7U);
}

TEST(TransferTotals, AreBoundedWhateverNamesCome) {
  TransferTotals totals;
  for (int i = 0; i < 2000; ++i) totals.count(ended_transfer("peer" + std::to_string(i), 1), kEndedAt);
  totals.count(ended_transfer("peer0", 1), kEndedAt);
  const auto all = totals.totals();
  EXPECT_EQ(all.size(), kMostPeerTotals + 1);
  std::uint64_t count = 0;
  for (const TransferTotal& each : all) count += each.complete;
  EXPECT_EQ(count, 2001U);
}

TEST(TransferTotals, SeeEachEventOnceWhetherOrNotALineTellsIt) {
  TransferTotals totals;
  set_event_observer([&](const LogEvent& event) { totals.count(event, kEndedAt); });
  std::uint64_t told = 0;
  set_event_sink([&](const LogEvent& event) { told += event.count; });
  boost::asio::io_context io;
  EventLog log(io, 2);
  for (int i = 0; i < 10; ++i) log.report("transfer alice", ended_transfer("alice", 1));
  EXPECT_EQ(told, 2U);
  log_event(ended_transfer("alice", 1));
  log.flush();
  set_event_observer({});
  set_event_sink({});
  EXPECT_EQ(told, 11U);
  ASSERT_EQ(totals.totals().size(), 1U);
  EXPECT_EQ(totals.totals()[0].complete, 11U);
}

}  // namespace
}  // namespace udtcat::tool
