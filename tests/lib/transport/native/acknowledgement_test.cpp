// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/acknowledgement.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

std::vector<std::uint32_t> extended_words() {
  auto words = full_words({1234, 75ms, 3ms, 8192, 100'000, 200'000});
  append_extension(words, {.highest = 2345,
                           .received_bytes = 0x1'0000'0002,
                           .echo_us = 3,
                           .delay_us = 4,
                           .free_kib = 5,
                           .host_overloads = 6,
                           .arrived_us = 7});
  return words;
}

TEST(Acknowledgement, IsLightWithOneWord) {
  const auto ack = decode_acknowledgement(body_of(light_words(99)));
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->next, 99U);
  EXPECT_FALSE(ack->rtt_us || ack->window_packets || ack->rate_packets || ack->capacity_packets || ack->extended);
}

TEST(Acknowledgement, IsMediumWithoutRates) {
  auto words = full_words({99, 10ms, 1ms, 50, 1, 2});
  words.resize(4);
  const auto ack = decode_acknowledgement(body_of(words));
  EXPECT_EQ(ack->rtt_us, 10'000U);
  EXPECT_EQ(ack->window_packets, 50U);
  EXPECT_FALSE(ack->rate_packets || ack->capacity_packets);
}

TEST(Acknowledgement, SurvivesItsEncoding) {
  const auto ack = decode_acknowledgement(body_of(extended_words()));
  EXPECT_EQ(ack->next, 1234U);
  EXPECT_EQ(ack->rtt_us, 75'000U);
  EXPECT_EQ(ack->window_packets, 8192U);
  EXPECT_EQ(ack->rate_packets, 100'000U);
  EXPECT_EQ(ack->capacity_packets, 200'000U);
  ASSERT_TRUE(ack->extended);
  EXPECT_EQ(ack->extended->highest, 2345U);
  EXPECT_EQ(ack->extended->received_bytes, 0x1'0000'0002U);
  EXPECT_EQ(ack->extended->echo_us, 3U);
  EXPECT_EQ(ack->extended->delay_us, 4U);
  EXPECT_EQ(ack->extended->free_kib, 5U);
  EXPECT_EQ(ack->extended->host_overloads, 6U);
  EXPECT_EQ(ack->extended->arrived_us, 7U);
}

TEST(Acknowledgement, HasNoArrivalTimeWhereThePeerSendsNone) {
  auto words = extended_words();
  words.pop_back();
  const auto ack = decode_acknowledgement(body_of(words));
  ASSERT_TRUE(ack->extended);
  EXPECT_FALSE(ack->extended->arrived_us);
}

TEST(Acknowledgement, HasNoRateWhereLibudtSaysZeroOrLess) {
  const auto ack = decode_acknowledgement(body_of(full_words({99, 0ms, 0ms, 0, 0, 0xffffffff})));
  EXPECT_FALSE(ack->rtt_us || ack->rate_packets || ack->capacity_packets);
  EXPECT_EQ(ack->window_packets, 0U) << "which is a window";
}

/// Proves: udt4.senseless-ignored
TEST(Acknowledgement, IsDecodedOrRefusedHoweverDamaged) {
  for_each_damage(body_of(extended_words()), [](const std::vector<std::byte>& body) {
    const auto ack = decode_acknowledgement(body);
    EXPECT_EQ(ack.has_value(), body.size() >= 4);
    if (ack) {
      EXPECT_EQ(ack->extended.has_value(), body.size() >= 52);
    }
  });
}

}  // namespace
}  // namespace udtcat::transport::native
