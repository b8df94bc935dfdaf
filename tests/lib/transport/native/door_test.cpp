#include "lib/transport/native/door.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "support/hex.hpp"
#include "support/spec_example.hpp"

namespace udtcat::transport::native {
namespace {

class DoorTest : public testing::Test {
 protected:
  Handshake proved() {
    Handshake with_proof = handshake;
    with_proof.address = door.proof_of(handshake, kMarker, token).value();
    return with_proof;
  }
  Handshake handshake{.initial_sequence = 0x26737ecd,
                      .mss = 1500,
                      .flow_window = 8192,
                      .request = Request::conclusion,
                      .socket_id = 0x2fd3ab96,
                      .cookie = 0xdeadbeef};
  std::optional<HandshakeExtension> token = HandshakeExtension{0x0102030405060708};
  Door door = door_of(1);
};

TEST_F(DoorTest, OpensToItsKey) { EXPECT_TRUE(door.is_proved_by(proved(), kMarker, token)); }

TEST_F(DoorTest, OpensToNoOtherKey) {
  EXPECT_FALSE(door_of(2).is_proved_by(proved(), kMarker, token));
  EXPECT_FALSE(door.is_proved_by(handshake, kMarker, token)) << "no proof at all";
}

TEST_F(DoorTest, BindsTheProofToEverythingElseInThePacket) {
  const auto rejected = [this](auto change) {
    Handshake changed = proved();
    change(changed);
    return !door.is_proved_by(changed, kMarker, token);
  };
  EXPECT_TRUE(rejected([](Handshake& it) { ++it.version; }));
  EXPECT_TRUE(rejected([](Handshake& it) { ++it.type; }));
  EXPECT_TRUE(rejected([](Handshake& it) { ++it.initial_sequence; }));
  EXPECT_TRUE(rejected([](Handshake& it) { ++it.mss; }));
  EXPECT_TRUE(rejected([](Handshake& it) { ++it.flow_window; }));
  EXPECT_TRUE(rejected([](Handshake& it) { it.request = Request::induction; }));
  EXPECT_TRUE(rejected([](Handshake& it) { ++it.socket_id; }));
  EXPECT_TRUE(rejected([](Handshake& it) { ++it.cookie; }));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(rejected([i](Handshake& it) { it.address[i] ^= 1; })) << i;
  EXPECT_FALSE(door.is_proved_by(proved(), kMarker + 1, token));
  EXPECT_FALSE(door.is_proved_by(proved(), kMarker, HandshakeExtension{0x0102030405060709}));
}

TEST_F(DoorTest, IsWhatTheSpecificationShows) {
  const udtcat::test::SpecExample example("udt4.md", "door");
  auto from_spec =
      Door::create(udtcat::test::array_of<crypto::KeyedHash::kKeyBytes>(example.bytes("door key"))).value();
  handshake.request = Request::induction;
  handshake.cookie = 0;
  handshake.address = from_spec.proof_of(handshake, kMarker, std::nullopt).value();
  EXPECT_EQ(udtcat::test::to_hex(encode(handshake, 0, kMarker, std::nullopt)),
            udtcat::test::to_hex(example.bytes("packet")));
}

TEST(PortKeys, AreTheSameForTheSameKey) {
  const Key key = Key::generate().value();
  const auto one = PortKeys::derive(key).value();
  const auto again = PortKeys::derive(key.duplicate()).value();
  EXPECT_EQ(udtcat::test::to_hex(one.door.bytes()), udtcat::test::to_hex(again.door.bytes()));
  EXPECT_EQ(udtcat::test::to_hex(one.reset.bytes()), udtcat::test::to_hex(again.reset.bytes()))
      << "or no restart would be known by it";
}

TEST(PortKeys, DifferAmongThemselvesAndFromKeyToKey) {
  const auto one = PortKeys::derive(Key::generate().value()).value();
  const auto other = PortKeys::derive(Key::generate().value()).value();
  EXPECT_NE(udtcat::test::to_hex(one.door.bytes()), udtcat::test::to_hex(one.reset.bytes()));
  EXPECT_NE(udtcat::test::to_hex(one.door.bytes()), udtcat::test::to_hex(other.door.bytes()));
  EXPECT_NE(udtcat::test::to_hex(one.reset.bytes()), udtcat::test::to_hex(other.reset.bytes()));
}

TEST(PortKeys, HaveTheCookieOfTheWorkedExample) {
  const udtcat::test::SpecExample example("rsh.md", "cookie");
  const Key key = Key::parse("udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p").value();
  EXPECT_EQ(udtcat::test::to_hex(key.bytes()), udtcat::test::to_hex(example.bytes("key")));
  std::uint32_t cookie = 0;
  for (const std::byte each : example.bytes("cookie")) cookie = cookie << 8 | std::to_integer<std::uint32_t>(each);
  EXPECT_EQ(PortKeys::derive(key).value().cookie, cookie);
  EXPECT_NE(PortKeys::derive(Key::generate().value()).value().cookie, cookie);
}

}  // namespace
}  // namespace udtcat::transport::native
