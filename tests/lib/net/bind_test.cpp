// SPDX-License-Identifier: Apache-2.0
#include "lib/net/bind.hpp"

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::net {
namespace {

using test::loopback;

TEST(Bind, FindsOnePortForAllAddresses) {
  const auto bound = bind_on_one_port({loopback(AddressFamily::ipv4), loopback(AddressFamily::ipv6)});
  ASSERT_TRUE(bound) << bound.error().message();
  ASSERT_EQ(bound->size(), 2U);
  EXPECT_NE((*bound)[0].local.port(), 0);
  EXPECT_EQ((*bound)[0].local.port(), (*bound)[1].local.port());
  EXPECT_EQ((*bound)[1].local.family(), AddressFamily::ipv6);
}

TEST(Bind, RefusesATakenPort) {
  const auto first = bind_on_one_port({loopback(AddressFamily::ipv4)});
  const auto second = bind_on_one_port({first->front().local});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::cannot_bind);
}

TEST(Bind, RefusesToBindNothing) { EXPECT_EQ(bind_on_one_port({}).error().code, Errc::bad_argument); }

TEST(Bind, CallsItsCallbackBeforeEachBind) {
  int asked = 0;
  const auto bound = bind_on_one_port({loopback(AddressFamily::ipv4)}, [&](UdpSocket& socket, const Endpoint&) {
    ++asked;
    EXPECT_EQ(socket.local_endpoint()->port(), 0);
    return Status{};
  });
  EXPECT_TRUE(bound);
  EXPECT_EQ(asked, 1);
}

TEST(Bind, FailsWithTheErrorOfItsCallback) {
  const auto bound = bind_on_one_port({loopback(AddressFamily::ipv4, 1)}, [](UdpSocket&, const Endpoint&) -> Status {
    return fail(Errc::cannot_bind, "prepare", "no");
  });
  EXPECT_EQ(bound.error().code, Errc::cannot_bind);
}

TEST(Wildcard, IsAnyAddressOfItsFamily) {
  for (const auto family : {AddressFamily::ipv4, AddressFamily::ipv6}) {
    EXPECT_EQ(wildcard(family).family(), family);
    EXPECT_TRUE(wildcard(family).is_wildcard());
    EXPECT_EQ(wildcard(family).port(), 0);
  }
}

TEST(FirstHopMtu, IsKnownOfTheLoopback) {
  const auto mtu = first_hop_mtu(loopback(AddressFamily::ipv4, 9));
  ASSERT_TRUE(mtu);
  EXPECT_GE(*mtu, 1280U);
}

}  // namespace
}  // namespace udtcat::net
