// SPDX-License-Identifier: Apache-2.0
#include "meet/meet_options.hpp"

#include <gtest/gtest.h>

namespace udtcat::meet {
namespace {

TEST(MeetOptions, AreReadWithTheirUnits) {
  const auto options = parse_meet_options({"-l", "192.0.2.1:9000", "--public", "--pairs", "7", "--registrations", "9",
                                           "--pair-rate", "20M", "--rate", "1G", "--idle-timeout", "20s"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->local.port, 9000);
  EXPECT_TRUE(options->serves_everybody);
  EXPECT_EQ(options->place.pairs, 7U);
  EXPECT_EQ(options->place.registrations, 9U);
  EXPECT_EQ(options->pair_rate.bits_per_second(), 20'000'000U);
  EXPECT_EQ(options->rate.bits_per_second(), 1'000'000'000U);
  EXPECT_EQ(options->session.idle_timeout, std::chrono::seconds(20));
  EXPECT_EQ(options->session.application, "meet");
  EXPECT_TRUE(options->transport.rate.unlimited()) << "the limit is of what is relayed";
}

TEST(MeetOptions, AreRefusedWhereTheyContradict) {
  for (const tool::Words& wrong : {tool::Words{"9000", "--public"},
                                   {"-l"},
                                   {"-l", "9000", "--public", "-k", "f"},
                                   {"-l", "9000", "9001"},
                                   {"-l", "9000", "--public", "--peers", "f"},
                                   {"-l", "65500", "--public"},
                                   {"-l", "9000", "--pairs", "0"},
                                   {"-l", "9000", "--rate", "0"},
                                   {"-l", "9000", "--pair-rate", "fast"}})
    EXPECT_FALSE(parse_meet_options(wrong)) << wrong.back();
}

TEST(MeetOptions, NameThePortsOfAFirewall) {
  EXPECT_EQ(firewall_text(9000, 100, true), "UDP 9000-9100 and TCP 9000");
  EXPECT_EQ(firewall_text(9000, 100, false), "UDP 9000-9100");
}

}  // namespace
}  // namespace udtcat::meet
