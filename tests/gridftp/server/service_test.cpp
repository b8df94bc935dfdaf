// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/service.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

Endpoint host(const char* address) { return resolve({address, 1}, AddressFamily::any).value().front(); }

/// Proves: gridftp.data-connections
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

/// Proves: gridftp.data-connections, threat-model.ftp-places, threat-model.ftp-data
TEST(DataSlots, AreFiveHundredAndTwelveOfWhichAPrefixHasAnEighthOrAQuarterWithTheKey) {
  const ServeOptions options;
  EXPECT_EQ(options.most_clients, 256U);
  EXPECT_EQ(options.anonymous_quota.clients, 32U);
  EXPECT_EQ(options.keyed_quota.clients, 128U);
  EXPECT_EQ(options.anonymous_quota.data_connections, 64U);
  EXPECT_EQ(options.keyed_quota.data_connections, 128U);
  DataSlots slots(options.most_data_connections);
  std::vector<DataSlots::Slot> taken;
  for (int site = 0; site < 9; ++site)
    for (std::size_t i = 0; i < 100; ++i) {
      auto slot = slots.take(host(("192.0." + std::to_string(site) + ".1").c_str()), 64);
      EXPECT_EQ(slot.has_value(), site < 8 && i < 64);
      if (slot) taken.push_back(std::move(*slot));
    }
  EXPECT_EQ(taken.size(), 512U);
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
