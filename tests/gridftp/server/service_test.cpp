// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/service.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

Endpoint host(const char* address) { return resolve({address, 1}, AddressFamily::any).value().front(); }

TEST(DataSlots, AreSharedOutByPrefix) {
  DataSlots slots(100);
  const auto one = slots.take(host("192.0.2.1"), 2);
  const auto two = slots.take(host("192.0.2.2"), 2);
  EXPECT_TRUE(one && two && slots.take(host("192.0.3.1"), 2));
  const auto refused = slots.take(host("192.0.2.3"), 2);
  EXPECT_EQ(refused.error().code, Errc::out_of_resources);
  EXPECT_EQ(refused.error().message(),
            "open a data connection for 192.0.2.3: the clients of its network have 2 of 2 already");
}

TEST(DataSlots, HaveAnEnd) {
  DataSlots slots(1);
  const auto one = slots.take(host("192.0.2.1"), 2);
  EXPECT_EQ(slots.take(host("2001:db8::1"), 2).error().message(),
            "open a data connection for 2001:db8::1: all clients together have 1 of 1 already");
}

TEST(DataSlots, AreFreeAgainWhenTheirConnectionsAreGone) {
  DataSlots slots(1);
  auto one = slots.take(host("192.0.2.1"), 1);
  EXPECT_FALSE(slots.take(host("192.0.2.1"), 1));
  one = {};
  EXPECT_TRUE(slots.take(host("192.0.2.1"), 1));
}

}  // namespace
}  // namespace udtcat::gridftp
