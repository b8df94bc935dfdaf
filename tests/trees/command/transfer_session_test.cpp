// SPDX-License-Identifier: Apache-2.0
#include "trees/command/transfer_session.hpp"

#include <future>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "lib/bridge/fake_connection.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "support/run_until.hpp"

namespace udtcat::trees {
namespace {

TEST(TransferSessions, AreSilentOnlyWhileTheirPeerDoesNotAnswer) {
  boost::asio::io_context io;
  auto made = std::make_unique<bridge::FakeConnection>(bridge::loopback_v4());
  bridge::FakeConnection& connection = *made;
  std::promise<ActiveTransfers::Owner> begun;
  const auto wait_for_a_byte = [&](BlockingStream& stream, TransferCounters& /*unused*/, const PeerInfo& peer) {
    begun.set_value(peer.owner);
    return stream.await(1).map([](std::size_t /*bytes*/) {});
  };
  TransferSession session(io, std::move(made), std::make_unique<TransferCounters>([](const std::string& /*line*/) {}),
                          wait_for_a_byte, [] {});
  session.accept(1);
  const ActiveTransfers::Owner owner = begun.get_future().get();
  EXPECT_FALSE(owner.is_silent());
  for (int time = 0; time < 2; ++time) {
    connection.answering = false;
    connection.quiet();
    EXPECT_TRUE(owner.is_silent());
    connection.answering = true;
    EXPECT_TRUE(test::run_until(
        io, [&] { return !owner.is_silent(); }, std::chrono::seconds(10)));
  }
}

}  // namespace
}  // namespace udtcat::trees
