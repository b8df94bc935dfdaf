// SPDX-License-Identifier: Apache-2.0
#include "lib/net/stun.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "support/spec_example.hpp"

namespace udtcat::net {
namespace {

using test::from_hex;
using testing::ElementsAre;

Endpoint address(const char* host, std::uint16_t port) { return resolve({host, port}, AddressFamily::any)->front(); }

TEST(BindingIndication, IsTheHeaderOfRfc8489WithoutAttributes) {
  EXPECT_EQ(binding_indication(), test::SpecExample("rsh.md", "check").bytes("check"));
  EXPECT_TRUE(is_binding_indication(binding_indication()));
}

TEST(BindingIndication, IsNothingElse) {
  const auto whole = binding_indication();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(is_binding_indication(std::span(whole).first(bytes))) << bytes;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(is_binding_indication(changed)) << at;
  }
  auto longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(is_binding_indication(longer));
}

// RFC 5769, whose padding is not of zeros.
const auto kHeadOfRfc5769 = std::string("2112a442 b7e7a701bc34d686fa87dfae ");
const auto kRequestOfRfc5769 =
    from_hex("00010058" + kHeadOfRfc5769 +
             "80220010 5354554e207465737420636c69656e74 00240004 6e0001ff 80290008 932ff9b151263b36 "
             "00060009 6576746a3a68367659202020 00080014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2 80280004 e57a3bcf");
const auto kIpv4ResponseOfRfc5769 = from_hex("0101003c" + kHeadOfRfc5769 +
                                             "8022000b 7465737420766563746f7220 00200008 0001a147e112a643 "
                                             "00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004 c07d4c96");
const auto kIpv6ResponseOfRfc5769 =
    from_hex("01010048" + kHeadOfRfc5769 +
             "8022000b 7465737420766563746f7220 00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9 "
             "00080014 a382954e4be67bf11784c97c8292c275bfe3ed41 80280004 c8fb0b4c");

TEST(StunMessage, ReadsTheRequestOfRfc5769) {
  const auto message = decode_stun(kRequestOfRfc5769);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, StunMessage::Type::request);
  EXPECT_EQ(test::to_hex(message->transaction), "b7e7a701bc34d686fa87dfae");
  EXPECT_EQ(message->username, "evtj:h6vY");
  EXPECT_THAT(message->unknown, ElementsAre(0x0024)) << "PRIORITY, which is of ICE";
}

TEST(StunMessage, ReadsTheResponsesOfRfc5769) {
  EXPECT_EQ(decode_stun(kIpv4ResponseOfRfc5769)->mapped_address, address("192.0.2.1", 32853));
  EXPECT_EQ(decode_stun(kIpv6ResponseOfRfc5769)->mapped_address,
            address("2001:db8:1234:5678:11:2233:4455:6677", 32853));
}

TEST(StunMessage, ReadsTheMappedAddressOfAnOldServer) {
  const auto message = decode_stun(from_hex("0101000c" + kHeadOfRfc5769 + "00010008 00018055c0000201"));
  EXPECT_EQ(message->mapped_address, address("192.0.2.1", 32853));
}

TEST(StunMessage, WithAFingerprintIsNothingWithAnyByteChanged) {
  for (std::size_t at = 0; at < kIpv4ResponseOfRfc5769.size(); ++at) {
    auto changed = kIpv4ResponseOfRfc5769;
    changed[at] ^= std::byte{1};
    const bool no_fingerprint = at == 72 || at == 73;  // its type: another that may be passed over
    EXPECT_TRUE(!decode_stun(changed) || no_fingerprint) << at;
  }
}

StunMessage whole_message() {
  StunMessage message{.type = StunMessage::Type::error};
  message.transaction.back() = std::byte{7};
  message.mapped_address = address("2001:db8::7", 9);
  message.username = "0123456789abcdef";
  message.nonce = "nonce";
  message.error = {StunMessage::kStaleNonce, "Stale Nonce"};
  return message;
}

TEST(StunMessage, ComesBackAsItWas) { EXPECT_EQ(decode_stun(encode(whole_message())), whole_message()); }

TEST(StunMessage, IsPaddedToALength) {
  for (std::size_t least = 0; least < 120; ++least) {
    const auto bytes = encode({.type = StunMessage::Type::request}, least);
    EXPECT_GE(bytes.size(), least);
    EXPECT_LE(bytes.size(), std::max<std::size_t>(20, least + 7));
    EXPECT_EQ(decode_stun(bytes), StunMessage{});
  }
  EXPECT_EQ(encode({.type = StunMessage::Type::request}, 96).size(), 96);
}

TEST(StunMessage, TellsWhatIsNotUnderstood) {
  StunMessage message{.type = StunMessage::Type::error};
  message.error = {StunMessage::kUnknownAttribute, "Unknown Attribute"};
  message.unknown = {0x0024, 0x7fff};
  const auto bytes = encode(message);
  EXPECT_THAT(test::to_hex(bytes), testing::EndsWith("000a000400247fff"));
}

TEST(StunMessage, IsNothingWhereItIsCutOrItsLengthLies) {
  for (const auto& whole : {kRequestOfRfc5769, kIpv4ResponseOfRfc5769, encode(whole_message())}) {
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(decode_stun(std::span(whole).first(bytes))) << bytes;
      auto cut = test::Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
      if (bytes < 20) continue;
      cut[3] = static_cast<std::byte>(bytes - 20);  // the header says so, too: attributes end in the midst or not
      std::ignore = decode_stun(cut);
    }
  }
}

TEST(StunMessage, IsDecodedOrNotWithAnyByteChanged) {
  const auto whole = encode(whole_message());
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = whole;
      changed[at] ^= static_cast<std::byte>(1 << bit);
      const auto decoded = decode_stun(changed);
      const bool is_padding = (at >= 49 && at < 52) || at == 71;
      const bool is_reserved = at == 56 || at == 57 || at == 58 || at == 76;
      EXPECT_TRUE(decoded != whole_message() || is_padding || is_reserved) << at;
    }
}

TEST(StunMessage, OfAnotherMethodIsNone) {
  EXPECT_TRUE(is_stun(from_hex("00030000" + kHeadOfRfc5769)));
  EXPECT_FALSE(decode_stun(from_hex("00030000" + kHeadOfRfc5769))) << "TURN's Allocate";
  EXPECT_FALSE(is_stun(from_hex("80010000" + kHeadOfRfc5769))) << "one of our control packets";
}

}  // namespace
}  // namespace udtcat::net
