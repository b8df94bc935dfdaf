// SPDX-License-Identifier: Apache-2.0
#include "wan/super_packet.hpp"

#include <gtest/gtest.h>

#include "wan/packets.hpp"

namespace udtcat::wan {
namespace {

constexpr std::size_t kPayload = 3500;  // four segments, the last of them half full

class SuperPacket : public testing::TestWithParam<PacketKind> {
 protected:
  [[nodiscard]] Bytes cut(std::size_t first, std::size_t count) const {
    Bytes piece(packet_.size());
    piece.resize(copy_segments(packet_, shape_, first, count, piece));
    return piece;
  }
  [[nodiscard]] Bytes payload_of(const Bytes& packet) const {
    return {packet.begin() + static_cast<std::ptrdiff_t>(kVirtioHeaderBytes + kind_.header_bytes()), packet.end()};
  }
  [[nodiscard]] std::byte tcp_flags(const Bytes& packet) const {
    return packet[kVirtioHeaderBytes + kind_.transport_offset() + 13];
  }

  const PacketKind kind_ = GetParam();
  const Bytes packet_ = make_packet(kind_, kPayload);
  const Shape shape_ = shape_of(packet_).value_or(Shape{});
};

TEST_P(SuperPacket, HasTheShapeOfItsSegmentsOnTheWire) {
  EXPECT_EQ(shape_.segments, 4U);
  EXPECT_EQ(shape_.wire_bytes(0, 1), kind_.header_bytes() + 1000);
  EXPECT_EQ(shape_.wire_bytes(3, 1), kind_.header_bytes() + 500);
  EXPECT_EQ(shape_.wire_bytes(0, 4), 4 * kind_.header_bytes() + kPayload);
}

TEST_P(SuperPacket, ComesApartIntoPiecesThatJoinAgain) {
  for (std::size_t at = 1; at < shape_.segments; ++at) {
    Bytes joined = payload_of(cut(0, at));
    const Bytes rest = payload_of(cut(at, shape_.segments - at));
    joined.insert(joined.end(), rest.begin(), rest.end());
    EXPECT_EQ(joined, payload_of(packet_)) << "cut before segment " << at;
  }
}

TEST_P(SuperPacket, HasPiecesWithTrueChecksums) {
  ASSERT_TRUE(checksums_hold(packet_, kind_)) << "the test's own packet";
  for (std::size_t first = 0; first < shape_.segments; ++first)
    for (std::size_t count = 1; first + count <= shape_.segments; ++count)
      EXPECT_TRUE(checksums_hold(cut(first, count), kind_)) << count << " from " << first;
}

TEST_P(SuperPacket, HasPiecesThatAreCutFurtherAsItWouldBe) {
  const auto shape = shape_of(cut(1, 3));
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->segments, 3U);
  EXPECT_EQ(shape->wire_bytes(0, 3), shape_.wire_bytes(1, 3));
  EXPECT_EQ(shape_of(cut(2, 1))->segments, 1U);
}

TEST_P(SuperPacket, IsCopiedUnchangedWhenItIsWhole) { EXPECT_EQ(cut(0, shape_.segments), packet_); }

TEST_P(SuperPacket, OfTcpNumbersItsPiecesAndEndsOnlyOnce) {
  if (kind_.udp) return;
  const std::size_t sequence = kVirtioHeaderBytes + kind_.transport_offset() + 4;
  EXPECT_EQ(field16(cut(2, 1), sequence), 0x0000);  // 0xffffff00 + 2000 = 0x000006d0
  EXPECT_EQ(field16(cut(2, 1), sequence + 2), 0x06d0);
  EXPECT_EQ(tcp_flags(cut(0, 2)), std::byte{0x90});  // CWR, ACK
  EXPECT_EQ(tcp_flags(cut(1, 2)), std::byte{0x10});  // ACK
  EXPECT_EQ(tcp_flags(cut(2, 2)), std::byte{0x19});  // ACK, PSH, FIN
}

TEST_P(SuperPacket, CutShortIsTakenForNoneOrForAShorterOne) {
  for (std::size_t bytes = 0; bytes < packet_.size(); ++bytes) {
    const auto shape = shape_of(std::span(packet_).first(bytes));
    if (bytes <= kVirtioHeaderBytes + kind_.header_bytes())
      EXPECT_FALSE(shape.has_value()) << bytes;
    else
      EXPECT_LE(shape->wire_bytes(0, shape->segments), shape_.wire_bytes(0, 4)) << bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SuperPacket,
                         testing::Values(PacketKind{.ipv6 = false, .udp = false},
                                         PacketKind{.ipv6 = true, .udp = false}, PacketKind{.ipv6 = false, .udp = true},
                                         PacketKind{.ipv6 = true, .udp = true}),
                         [](const auto& of) {
                           return std::string(of.param.udp ? "Udp" : "Tcp") + (of.param.ipv6 ? "6" : "4");
                         });

TEST(OrdinaryPacket, IsOneSegment) {
  const PacketKind kind{.ipv6 = false, .udp = true};
  const auto shape = shape_of(make_packet(kind, 700));
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->segments, 1U);
  EXPECT_EQ(shape->wire_bytes(0, 1), 28U + 700U);
}

TEST(OrdinaryPacket, OfNoKnownVersionIsNone) {
  Bytes packet = make_packet({}, 100);
  packet[kVirtioHeaderBytes] = std::byte{0x25};
  EXPECT_FALSE(shape_of(packet).has_value());
}

}  // namespace
}  // namespace udtcat::wan
