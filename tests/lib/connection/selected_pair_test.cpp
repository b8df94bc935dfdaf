// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/selected_pair.hpp"

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::connection {
namespace {

using test::address_of;
using test::loopback;
using Kind = Candidate::Kind;

const Endpoint kReflexive = address_of("127.0.0.2", 9000);  // all of them are ways to this host: nothing is sent
const Endpoint kRelay = address_of("127.0.0.3", 9001);

SelectedPair exchanged() {
  return {{address_of("0.0.0.0", 40123)},
          {{Kind::host, loopback(AddressFamily::ipv4, 9000)},
           {Kind::server_reflexive, kReflexive},
           {Kind::relayed, kRelay}}};
}

TEST(SelectedPair, IsOfTheCandidateToWhichPacketsGo) {
  SelectedPair pair = exchanged();
  const auto kind_at = [&](const Endpoint& path) { return pair.at(path, TransportKind::native)->remote.kind; };
  EXPECT_EQ(kind_at(loopback(AddressFamily::ipv4, 9000)), Kind::host);
  EXPECT_EQ(kind_at(kRelay), Kind::relayed);
  EXPECT_EQ(kind_at(kReflexive), Kind::server_reflexive) << "the session has moved";
  EXPECT_EQ(kind_at(address_of("127.0.0.2", 9002)), Kind::peer_reflexive) << "nobody had named it";
}

TEST(SelectedPair, HasTheAddressFromWhichPacketsLeave) {
  SelectedPair pair = exchanged();
  const auto by_udp = pair.at(kRelay, TransportKind::native);
  ASSERT_TRUE(by_udp);
  EXPECT_EQ(by_udp->local, (Candidate{Kind::host, loopback(AddressFamily::ipv4, 40123)}));
  EXPECT_FALSE(by_udp->by_tcp);
  const auto by_tcp = pair.at(kRelay, TransportKind::tcp);
  ASSERT_TRUE(by_tcp);
  EXPECT_TRUE(by_tcp->by_tcp);
  EXPECT_EQ(by_tcp->local.address.port(), 0);
}

TEST(SelectedPair, IsNoneWhereAnotherProgramsPipeCarriesTheSession) {
  EXPECT_FALSE(exchanged().at(tunnel_address(AddressFamily::ipv4), TransportKind::native));
}

}  // namespace
}  // namespace udtcat::connection
