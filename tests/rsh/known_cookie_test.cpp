#include "rsh/known_cookie.hpp"

#include <gtest/gtest.h>

namespace udtcat::rsh {
namespace {

TEST(KnownCookie, IsTheSameForTheSameKeyAndAnotherForAnother) {
  const Key key = Key::parse("udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p").value();
  EXPECT_EQ(known_cookie(key).value(), 0x485c800cU) << "the worked example of docs/spec/rsh.md";
  EXPECT_NE(known_cookie(Key::generate().value()).value(), known_cookie(key).value());
}

}  // namespace
}  // namespace udtcat::rsh
