// SPDX-License-Identifier: Apache-2.0
#include <udtcat/candidate.hpp>

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat {
namespace {

using test::address_of;

TEST(CandidatePair, IsNamedInTheWordsOfIce) {
  const CandidatePair direct{.local = {Candidate::Kind::host, address_of("192.0.2.7", 40123)},
                             .remote = {Candidate::Kind::server_reflexive, address_of("198.51.100.3", 9000)}};
  EXPECT_EQ(to_string(direct), "UDP, host 192.0.2.7:40123 to server-reflexive 198.51.100.3:9000");
  const CandidatePair relayed{.local = {Candidate::Kind::host, address_of("2001:db8::7", 0)},
                              .remote = {Candidate::Kind::relayed, address_of("2001:db8::1", 9001)},
                              .by_tcp = true};
  EXPECT_EQ(to_string(relayed), "TCP, host 2001:db8::7 to relayed [2001:db8::1]:9001");
  EXPECT_EQ(to_string(Candidate::Kind::peer_reflexive), "peer-reflexive");
}

}  // namespace
}  // namespace udtcat
