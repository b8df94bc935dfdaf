// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/handshake.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "support/spec_example.hpp"

namespace udtcat::transport::native {
namespace {

HandshakePacket example() {
  return {.initial_sequence = 0x26737ecd,
          .mss = 1500,
          .flow_window = 8192,
          .request = Request::induction,
          .socket_id = 0x2fd3ab96,
          .cookie = 0,
          .address = address_words(endpoint("127.0.0.1", 0))};
}

std::span<const std::byte> body_in(const std::vector<std::byte>& packet) {
  return std::span(packet).subspan(kHeaderBytes);
}

TEST(HandshakePacket, IsWhatTheSpecificationShows) {
  const auto packet = encode(example(), 0, 0, std::nullopt);
  EXPECT_EQ(udtcat::test::to_hex(packet),
            udtcat::test::to_hex(udtcat::test::SpecExample("udt4.md", "induction").bytes("packet")));
}

TEST(HandshakePacket, SurvivesItsEncoding) {
  HandshakePacket sent = example();
  sent.request = Request::conclusion;
  sent.cookie = 0xdeadbeef;
  sent.address = {1, 2, 3, 4};
  const auto packet = encode(sent, 77, kMarker, std::nullopt);
  EXPECT_EQ(decode_control_header(packet).type, ControlType::handshake);
  EXPECT_EQ(decode_control_header(packet).additional, kMarker);
  EXPECT_EQ(decode_control_header(packet).destination, 77U);
  const auto got = decode_handshake(body_in(packet));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->request, Request::conclusion);
  EXPECT_EQ(encode(*got, 77, kMarker, std::nullopt), packet);
  EXPECT_FALSE(decode_extension(body_in(packet)));
}

TEST(HandshakePacket, IsFollowedByAToken) {
  const auto packet = encode(example(), 0, 0, HandshakeExtension{0x0123456789abcdef});
  EXPECT_EQ(packet.size(), kHeaderBytes + kHandshakeBytes + 16);
  const auto extension = decode_extension(body_in(packet));
  ASSERT_TRUE(extension);
  EXPECT_EQ(extension->token, 0x0123456789abcdefU);
  EXPECT_EQ(extension->next_cookie, 0U);
}

/// Proves: udt4.handshake-data-limit
TEST(HandshakePacket, IsFollowedByDataBehindTheToken) {
  const auto words = numbered_bytes(468);
  const auto packet = encode(example(), 0, 0, HandshakeExtension{42, 43, words}, 77);
  EXPECT_EQ(decode_control_header(packet).timestamp_us, 77U);
  EXPECT_EQ(packet.size() + 28, 576U) << "in IPv4";
  EXPECT_EQ(bytes_of(decode_extension(body_in(packet))->handshake_data), words);
}

TEST(HandshakePacket, IsDecodedOrRefusedHoweverDamaged) {
  const auto packet = encode(example(), 0, 0, HandshakeExtension{42});
  for_each_damage(body_in(packet), [](const std::vector<std::byte>& body) {
    EXPECT_EQ(decode_handshake(body).has_value(), body.size() >= kHandshakeBytes);
    if (body.size() < kHandshakeBytes + 16) {
      EXPECT_FALSE(decode_extension(body));
    }
  });
}

TEST(HandshakePacket, HasNoTokenBehindAnotherMagicNumber) {
  auto packet = encode(example(), 0, 0, HandshakeExtension{42});
  packet[kHeaderBytes + kHandshakeBytes] ^= std::byte{1};
  EXPECT_FALSE(decode_extension(body_in(packet)));
}

TEST(AddressWords, AreEachFourBytesReversed) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(address_words(endpoint("192.0.2.1", 9)), (Words{0x010200c0, 0, 0, 0}));
  EXPECT_EQ(address_words(endpoint("2001:db8::1", 9)), (Words{0xb80d0120, 0, 0, 0x01000000}));
}

}  // namespace
}  // namespace udtcat::transport::native
