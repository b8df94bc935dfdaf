#include "lib/transport/native/cookie.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class Cookies : public testing::Test {
 protected:
  CookieJar jar = CookieJar::create().value();
  Endpoint client = endpoint("192.0.2.1", 1000);
  std::uint32_t cookie = jar.make(kStart, client, 5).value();
};

TEST_F(Cookies, AreGoodForWhoGotThem) {
  EXPECT_NE(cookie, 0U);
  EXPECT_TRUE(jar.accepts(kStart, client, 5, cookie));
  EXPECT_TRUE(jar.accepts(kStart + 1min, client, 5, cookie));
}

TEST_F(Cookies, AreGoodForNobodyElse) {
  EXPECT_FALSE(jar.accepts(kStart, client.with_port(1001), 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart, endpoint("192.0.2.2", 1000), 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart, endpoint("2001:db8::1", 1000), 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart, client, 6, cookie));
  EXPECT_FALSE(jar.accepts(kStart, client, 5, cookie ^ 2));
  EXPECT_FALSE(jar.accepts(kStart, client, 5, 0));
}

TEST_F(Cookies, GoStaleAfterTwoMinutes) {
  EXPECT_FALSE(jar.accepts(kStart + 2min, client, 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart - 1min, client, 5, cookie)) << "nor before it was made";
}

TEST_F(Cookies, OfAnotherPortAreNotAccepted) {
  CookieJar other = CookieJar::create().value();
  EXPECT_FALSE(other.accepts(kStart, client, 5, cookie));
}

}  // namespace
}  // namespace udtcat::transport::native
