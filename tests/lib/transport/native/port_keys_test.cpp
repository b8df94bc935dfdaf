#include "lib/transport/native/port_keys.hpp"

#include <gtest/gtest.h>

#include "support/hex.hpp"

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

}  // namespace
}  // namespace udtcat::transport::native
