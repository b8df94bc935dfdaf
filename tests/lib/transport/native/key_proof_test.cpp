// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/key_proof.hpp"

#include <thread>

#include <gtest/gtest.h>

#include <udtcat/key.hpp>

#include "lib/transport/native/parts.hpp"
#include "support/bytes.hpp"
#include "support/failing_calls.hpp"
#include "support/spec_example.hpp"

namespace udtcat::transport::native {
namespace {

class KeyProofTest : public testing::Test {
 protected:
  HandshakePacket proved() {
    HandshakePacket with_proof = handshake;
    with_proof.address = key_proof.make(handshake, kMarker, token).value();
    return with_proof;
  }
  HandshakePacket handshake{.initial_sequence = 0x26737ecd,
                            .mss = 1500,
                            .flow_window = 8192,
                            .request = Request::conclusion,
                            .socket_id = 0x2fd3ab96,
                            .cookie = 0xdeadbeef};
  std::optional<HandshakeExtension> token = HandshakeExtension{0x0102030405060708};
  KeyProof key_proof = key_proof_of(1);
};

TEST_F(KeyProofTest, IsValidUnderItsKey) { EXPECT_TRUE(key_proof.is_in(proved(), kMarker, token)); }

TEST_F(KeyProofTest, IsInvalidUnderAnotherKey) {
  EXPECT_FALSE(key_proof_of(2).is_in(proved(), kMarker, token));
  EXPECT_FALSE(key_proof.is_in(handshake, kMarker, token)) << "no proof at all";
}

TEST_F(KeyProofTest, BindsTheProofToEverythingElseInThePacket) {
  const auto rejected = [this](auto change) {
    HandshakePacket changed = proved();
    change(changed);
    return !key_proof.is_in(changed, kMarker, token);
  };
  EXPECT_TRUE(rejected([](HandshakePacket& it) { ++it.version; }));
  EXPECT_TRUE(rejected([](HandshakePacket& it) { ++it.type; }));
  EXPECT_TRUE(rejected([](HandshakePacket& it) { ++it.initial_sequence; }));
  EXPECT_TRUE(rejected([](HandshakePacket& it) { ++it.mss; }));
  EXPECT_TRUE(rejected([](HandshakePacket& it) { ++it.flow_window; }));
  EXPECT_TRUE(rejected([](HandshakePacket& it) { it.request = Request::induction; }));
  EXPECT_TRUE(rejected([](HandshakePacket& it) { ++it.socket_id; }));
  EXPECT_TRUE(rejected([](HandshakePacket& it) { ++it.cookie; }));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(rejected([i](HandshakePacket& it) { it.address[i] ^= 1; })) << i;
  EXPECT_FALSE(key_proof.is_in(proved(), kMarker + 1, token));
  EXPECT_FALSE(key_proof.is_in(proved(), kMarker, HandshakeExtension{0x0102030405060709}));
}

TEST_F(KeyProofTest, IsWhatTheSpecificationShows) {
  const udtcat::test::SpecExample example("udt4.md", "proof");
  auto from_spec =
      KeyProof::create(udtcat::test::array_of<crypto::KeyedHash::kKeyBytes>(example.bytes("proof key"))).value();
  handshake.request = Request::induction;
  handshake.cookie = 0;
  handshake.address = from_spec.make(handshake, kMarker, std::nullopt).value();
  EXPECT_EQ(udtcat::test::to_hex(encode(handshake, 0, kMarker, std::nullopt)),
            udtcat::test::to_hex(example.bytes("packet")));
}

PortKeys keys_of(const Key& key) {
  return PortKeys::derive({.own = key.bytes(), .admission_key = key.bytes()}).value();
}

TEST(PortKeys, AreTheSameForTheSameKey) {
  const Key key = Key::generate().value();
  const auto one = keys_of(key);
  const auto again = keys_of(key.duplicate());
  EXPECT_EQ(udtcat::test::to_hex(one.proof->bytes()), udtcat::test::to_hex(again.proof->bytes()));
  EXPECT_EQ(udtcat::test::to_hex(one.reset.bytes()), udtcat::test::to_hex(again.reset.bytes()))
      << "or no restart would be known by it";
}

TEST(PortKeys, DifferAmongThemselvesAndFromKeyToKey) {
  const auto one = keys_of(Key::generate().value());
  const auto other = keys_of(Key::generate().value());
  EXPECT_NE(udtcat::test::to_hex(one.proof->bytes()), udtcat::test::to_hex(one.reset.bytes()));
  EXPECT_NE(udtcat::test::to_hex(one.proof->bytes()), udtcat::test::to_hex(other.proof->bytes()));
  EXPECT_NE(udtcat::test::to_hex(one.reset.bytes()), udtcat::test::to_hex(other.reset.bytes()));
}

TEST(PortKeys, AreTheSameAtBothEndsByTheListenersPublicKey) {
  const udtcat::test::SpecExample example("udt4.md", "admission key");
  const auto admission_key = example.bytes("admission key");
  const Key own = Key::generate().value(), other = Key::generate().value();
  const auto one = PortKeys::derive({.own = own.bytes(), .admission_key = admission_key}).value();
  const auto peer = PortKeys::derive({.own = other.bytes(), .admission_key = admission_key}).value();
  EXPECT_EQ(udtcat::test::to_hex(one.proof->bytes()), udtcat::test::to_hex(example.bytes("proof key")));
  EXPECT_EQ(udtcat::test::to_hex(peer.proof->bytes()), udtcat::test::to_hex(one.proof->bytes()));
  EXPECT_NE(udtcat::test::to_hex(peer.reset.bytes()), udtcat::test::to_hex(one.reset.bytes()));
}

TEST(PortKeys, HaveNoProofWhereTheListenersKeyIsUnknown) {
  const Key own = Key::generate().value();
  EXPECT_FALSE(PortKeys::derive({.own = own.bytes(), .admission_key = {}})->proof);
}

TEST(PortKeys, HaveTheCookieOfTheWorkedExample) {
  const udtcat::test::SpecExample example("rsh.md", "cookie");
  const Key key = Key::parse("udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p").value();
  EXPECT_EQ(udtcat::test::to_hex(key.bytes()), udtcat::test::to_hex(example.bytes("key")));
  std::uint32_t cookie = 0;
  for (const std::byte each : example.bytes("cookie")) cookie = cookie << 8 | std::to_integer<std::uint32_t>(each);
  EXPECT_EQ(keys_of(key).cookie, cookie);
  EXPECT_NE(keys_of(Key::generate().value()).cookie, cookie);
}

TEST(PortKeysTest, AreDerivedWhereTheHostsNumbersCannotBeRead) {
  const auto secret = udtcat::test::random_bytes(32, 1);
  std::thread([&secret] {
    udtcat::test::fail_calls({SYS_read}, EIO);
    EXPECT_TRUE(PortKeys::derive({.own = secret, .admission_key = {}}));
  }).join();
}

}  // namespace
}  // namespace udtcat::transport::native
