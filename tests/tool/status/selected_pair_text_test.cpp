// SPDX-License-Identifier: Apache-2.0
#include "tool/status/selected_pair_text.hpp"

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::tool {
namespace {

TEST(SelectedPairText, IsTheSameForPeopleAndPrograms) {
  const CandidatePair pair{.local = {Candidate::Kind::host, test::address_of("192.0.2.7", 1)},
                           .remote = {Candidate::Kind::server_reflexive, test::address_of("198.51.100.3", 2)}};
  EXPECT_EQ(to_line(to_json(in_words(pair))),
            R"({"transport":"udp","local":"host","local_address":"192.0.2.7:1","remote":"server-reflexive",)"
            R"("remote_address":"198.51.100.3:2",)"
            R"("text":"UDP, host 192.0.2.7:1 to server-reflexive 198.51.100.3:2"})");
  EXPECT_TRUE(to_json(in_words(std::nullopt)).is_null());
}

}  // namespace
}  // namespace udtcat::tool
