#include "rsh/known_cookie.hpp"

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat::rsh {
namespace {

TEST(KnownCookie, IsThatOfTheWorkedExample) {
  const test::SpecExample example("rsh.md", "cookie");
  const Key key = Key::parse("udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p").value();
  EXPECT_EQ(test::to_hex(key.bytes()), test::to_hex(example.bytes("key")));
  std::uint32_t cookie = 0;
  for (const std::byte each : example.bytes("cookie")) cookie = cookie << 8 | std::to_integer<std::uint32_t>(each);
  EXPECT_EQ(known_cookie(key).value(), cookie);
}

TEST(KnownCookie, IsAnotherForAnotherKey) {
  EXPECT_NE(known_cookie(Key::generate().value()).value(), known_cookie(Key::generate().value()).value());
}

}  // namespace
}  // namespace udtcat::rsh
