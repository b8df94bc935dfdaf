#include "lib/transport/native/port_keys.hpp"

#include <gtest/gtest.h>

#include "support/hex.hpp"
#include "support/spec_example.hpp"

namespace udtcat::transport::native {
namespace {

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
