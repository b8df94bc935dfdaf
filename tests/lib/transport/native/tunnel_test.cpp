// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/tunnel.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

TEST(Tunnel, IsNowhereBeforeItIsOpen) { EXPECT_FALSE(Tunnel().is_at(tunnel_address(AddressFamily::ipv4))); }

TEST(Tunnel, GivesEachDatagramOfATrainWhole) {
  std::vector<std::vector<std::byte>> given;
  Tunnel tunnel;
  tunnel.open(AddressFamily::ipv6, [&](std::span<const std::byte> datagram) { given.push_back(bytes_of(datagram)); });
  EXPECT_TRUE(tunnel.is_at(tunnel_address(AddressFamily::ipv6)));
  EXPECT_FALSE(tunnel.is_at(endpoint("192.0.2.1", 1000)));
  const auto bytes = numbered_bytes(100);
  net::DatagramTrain train;
  train.pieces = {std::span(bytes).first(30), std::span(bytes).subspan(30, 30), std::span(bytes).last(40)};
  train.piece_counts = {2, 1};
  EXPECT_EQ(tunnel.send(train).datagrams, 2U);
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[0], numbered_bytes(60));
  EXPECT_EQ(given[1], numbered_bytes(40, 60));
}

TEST(Tunnel, MakesATrainOfOneDatagramThatCame) {
  core::ChunkPool chunks(65'536);
  Tunnel tunnel;
  tunnel.open(AddressFamily::ipv4, [](std::span<const std::byte>) {});
  const auto train = tunnel.received(numbered_bytes(100), chunks);
  EXPECT_EQ(bytes_of(train.chunk.bytes().first(train.total_bytes)), numbered_bytes(100));
  EXPECT_EQ(train.segment_bytes, 100U);
  EXPECT_TRUE(tunnel.is_at(train.from));
}

}  // namespace
}  // namespace udtcat::transport::native
