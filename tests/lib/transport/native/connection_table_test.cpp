// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/connection_table.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/test_port.hpp"

namespace udtcat::transport::native {
namespace {

class ConnectionTableTest : public testing::Test {
 protected:
  UdtLink& add(std::uint32_t local_id, const Endpoint& peer, std::uint32_t peer_id, bool proved = false) {
    ConnectionSettings settings;
    settings.local_id = local_id;
    settings.peer_id = peer_id;
    settings.mss = 1500;
    settings.flow_window = 100;
    settings.peer_address = peer;
    settings.started = kStart;
    return table.add(std::make_unique<UdtLink>(*port, io, settings, proved, chunks));
  }

  boost::asio::io_context io;
  std::unique_ptr<UdpPort> port = test_port(io);
  core::ChunkPool chunks{65'536};
  const Endpoint one = endpoint("192.0.2.1", 1000);
  const Endpoint other = endpoint("192.0.2.2", 1000);
  ConnectionTable table;
};

TEST_F(ConnectionTableTest, FindsAConnectionByOurNumberAndByThePeers) {
  UdtLink& link = add(7, one, 5);
  add(8, other, 5);
  EXPECT_EQ(table.find(7), &link);
  EXPECT_EQ(table.find({one, 5}), &link);
  EXPECT_EQ(table.find(5), nullptr);
  EXPECT_EQ(table.find({one.with_port(1001), 5}), nullptr);
  EXPECT_TRUE(table.has_host(one.with_port(1)));
  table.erase(link);
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_EQ(table.find({one, 5}), nullptr);
  EXPECT_FALSE(table.has_host(one));
  EXPECT_EQ(table.size(), 1U);
}

TEST_F(ConnectionTableTest, KnowsTheConnectionsOfOtherPortsAndCountsThem) {
  const std::vector<std::byte> reply(3, std::byte{1});
  const UdtLink& link = add(6, one, 5);
  table.add_elsewhere(7, {.port = 2, .name = {other, 5}, .proved = true, .handshake_reply = reply});
  EXPECT_EQ(table.find(7), nullptr);
  ASSERT_NE(table.find_elsewhere(7), nullptr);
  EXPECT_EQ(table.find_elsewhere(7)->port, 2U);
  EXPECT_EQ(table.find_elsewhere({other, 5}), 7U);
  EXPECT_EQ(table.find_elsewhere({one, 5}), std::nullopt);
  EXPECT_EQ(table.port_of(other, false), 2U);
  EXPECT_EQ(table.port_of(one, false), 0U);
  EXPECT_EQ(table.port_of(one.with_port(1001), false), std::nullopt);
  EXPECT_EQ(table.port_of(one.with_port(1001), true), 0U) << "of that host";
  EXPECT_TRUE(table.has_host(other.with_port(1)));
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.own_size(), 1U);
  EXPECT_EQ(table.count(true), 1U);
  EXPECT_EQ(table.count(false), 1U);
  table.erase(link);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.size(), 1U);
  table.erase_elsewhere(7);
  table.erase_elsewhere(7);
  EXPECT_EQ(table.find_elsewhere(7), nullptr);
  EXPECT_EQ(table.find_elsewhere({other, 5}), std::nullopt);
  EXPECT_FALSE(table.has_host(other));
  EXPECT_EQ(table.count(true), 0U);
}

TEST_F(ConnectionTableTest, KeepsTheLatestConnectionElsewhereOfAPeersNumber) {
  table.add_elsewhere(7, {.port = 1, .name = {one, 5}, .handshake_reply = {}});
  table.add_elsewhere(9, {.port = 2, .name = {one, 5}, .handshake_reply = {}});
  table.erase_elsewhere(7);
  EXPECT_EQ(table.find_elsewhere({one, 5}), 9U);
}

TEST_F(ConnectionTableTest, KeepsTheLatestConnectionOfAPeersNumber) {
  const UdtLink& before = add(7, one, 5);
  UdtLink& after = add(8, one, 5);
  EXPECT_EQ(table.find({one, 5}), &after);
  table.erase(before);
  EXPECT_EQ(table.find({one, 5}), &after);
}

TEST_F(ConnectionTableTest, CountsClientsThatProvedTheKeyApart) {
  const UdtLink& proved = add(7, one, 5, true);
  add(8, one, 6);
  add(9, one, 7);
  EXPECT_EQ(table.count(true), 1U);
  EXPECT_EQ(table.count(false), 2U);
  table.erase(proved);
  EXPECT_EQ(table.count(true), 0U);
}

}  // namespace
}  // namespace udtcat::transport::native
