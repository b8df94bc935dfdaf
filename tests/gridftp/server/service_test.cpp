#include "gridftp/server/service.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

Endpoint host(const char* address) { return resolve({address, 1}, AddressFamily::any).value().front(); }

TEST(DataPlaces, AreSharedOutByPrefix) {
  DataPlaces places(100);
  const auto one = places.take(host("192.0.2.1"), 2);
  const auto two = places.take(host("192.0.2.2"), 2);
  EXPECT_TRUE(one && two && places.take(host("192.0.3.1"), 2));
  const auto refused = places.take(host("192.0.2.3"), 2);
  EXPECT_EQ(refused.error().code, Errc::out_of_resources);
  EXPECT_EQ(refused.error().message(),
            "open a data connection for 192.0.2.3: the clients of its network have 2 of 2 already");
}

TEST(DataPlaces, HaveAnEnd) {
  DataPlaces places(1);
  const auto one = places.take(host("192.0.2.1"), 2);
  EXPECT_EQ(places.take(host("2001:db8::1"), 2).error().message(),
            "open a data connection for 2001:db8::1: all clients together have 1 of 1 already");
}

TEST(DataPlaces, AreFreeAgainWhenTheirConnectionsAreGone) {
  DataPlaces places(1);
  auto one = places.take(host("192.0.2.1"), 1);
  EXPECT_FALSE(places.take(host("192.0.2.1"), 1));
  one = {};
  EXPECT_TRUE(places.take(host("192.0.2.1"), 1));
}

}  // namespace
}  // namespace udtcat::gridftp
