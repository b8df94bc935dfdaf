// SPDX-License-Identifier: Apache-2.0
// Sums and differences of <udtcat/stats.hpp>, field by field, and that no field is missing from the tables.
#include <udtcat/stats.hpp>

#include <array>
#include <set>
#include <string_view>

#include <gmock/gmock.h>

#include "lib/core/stats_fields.hpp"

namespace udtcat {
namespace {

using namespace std::chrono_literals;

TEST(StatsSum, AddsCountersAndKeepsTheLatestOfTheRest) {
  const auto with = [](std::uint64_t all) {
    ConnectionStats made;
    made.made_at += std::chrono::seconds(all);
    for (std::uint64_t* counter : {&made.bytes_sent, &made.bytes_received, &made.bytes_arrived, &made.bytes_carried,
                                   &made.blocks_sent, &made.blocks_received, &made.streams_opened, &made.packets_sent,
                                   &made.packets_lost, &made.packets_resent, &made.packets_late})
      *counter = all++;
    made.streams_open = made.lanes = made.threads = made.flows = all;
    made.rtt = std::chrono::microseconds(all);
    made.silence = std::chrono::milliseconds(all);
    made.protection = all > 100 ? Protection::auth : Protection::clear;
    if (all < 100) made.cipher = Cipher::aes_256_gcm;
    made.ends.here.elapsed = std::chrono::microseconds(all);
    return made;
  };
  const ConnectionStats both = sum(with(10), with(100));
  EXPECT_THAT((std::array{both.bytes_sent, both.bytes_received, both.bytes_arrived, both.bytes_carried,
                          both.blocks_sent, both.blocks_received, both.streams_opened, both.packets_sent,
                          both.packets_lost, both.packets_resent, both.packets_late}),
              testing::ElementsAre(110, 112, 114, 116, 118, 120, 122, 124, 126, 128, 130));
  EXPECT_EQ(both.streams_open, 21U + 111U);
  EXPECT_THAT((std::array{both.lanes, both.threads, both.flows}), testing::Each(111));
  EXPECT_EQ(both.made_at, with(100).made_at);
  EXPECT_EQ(both.rtt, 111us);
  EXPECT_EQ(both.silence, 111ms);
  EXPECT_EQ(both.protection, Protection::auth);
  EXPECT_EQ(both.cipher, std::nullopt);
  EXPECT_EQ(both.ends.here.elapsed, 111us);
  EXPECT_EQ(sum(with(10), {}).rtt, std::nullopt);
}

TEST(StatsSince, OfEachFieldIsItsGrowthOrItsLastValue) {
  const auto with = [](std::uint64_t all) {
    const std::chrono::microseconds time(all);
    const LossByRate losses{all, all, all, all, all};
    const BitRate rate = BitRate::from_bits_per_second(all);
    EndStats made{.elapsed = time,
                  .bytes_sent = all,
                  .bytes_received = all,
                  .consuming = time,
                  .event_loop = {time, time},
                  .cipher = {time, time},
                  .cipher_threads = all,
                  .path_rate = rate,
                  .least_rtt = time,
                  .rtt_sum = time,
                  .rtt_samples = all,
                  .packets_sent = all,
                  .packets_lost = all,
                  .queued_lost = all,
                  .trains_off = all,
                  .loss_by_rate = losses,
                  .loss_behind_loss = losses,
                  .path_changes = all,
                  .packet_bytes = all,
                  .socket_drops = all,
                  .socket_buffer_bytes = all,
                  .socket_wanted_bytes = all,
                  .rate_cap = rate,
                  .memory_bytes = all};
    made.stalled.fill(time);
    return made;
  };
  const EndStats made = since({.here = with(2)}, {.here = with(10)}).here;
  EXPECT_THAT((std::array{made.bytes_sent, made.bytes_received, made.rtt_samples, made.packets_sent, made.packets_lost,
                          made.queued_lost, made.path_changes, made.socket_drops}),
              testing::Each(8));
  EXPECT_THAT((std::array{made.elapsed, made.consuming, made.event_loop.had, made.event_loop.waited, made.cipher.had,
                          made.cipher.waited, made.rtt_sum}),
              testing::Each(8us));
  EXPECT_THAT(made.stalled, testing::Each(8us));
  for (const LossByRate& losses : {made.loss_by_rate, made.loss_behind_loss})
    EXPECT_THAT((std::array{losses.spans, losses.sent, losses.lost, losses.sent_squared, losses.sent_by_lost}),
                testing::Each(8));
  EXPECT_THAT((std::array{made.cipher_threads, made.trains_off, made.packet_bytes, made.socket_buffer_bytes,
                          made.socket_wanted_bytes, made.memory_bytes, made.path_rate.bits_per_second(),
                          made.rate_cap.bits_per_second()}),
              testing::Each(10));
  EXPECT_EQ(made.least_rtt, 10us);
}

TEST(StatsSince, OfAPeerThatSaidNothingInTheMeantimeIsThatOfItsLastReport) {
  BothEndsStats before;
  before.there = EndStats{.elapsed = 9s, .consuming = 1s};
  before.there_before = EndStats{.elapsed = 8s, .consuming = 500ms};
  EXPECT_EQ(since(before, before).there->elapsed, 1s);
  EXPECT_EQ(since(before, before).there->consuming, 500ms);
  BothEndsStats now = before;
  now.there_before = before.there;
  now.there->elapsed = 11s;
  now.there->consuming = 3s;
  EXPECT_EQ(since(before, now).there->elapsed, 2s);
  EXPECT_EQ(since(before, now).there->consuming, 2s);
  EXPECT_EQ(since(BothEndsStats(), now).there->elapsed, 11s);
}

TEST(StatsSince, SurvivesAPeerWhoseSumsFall) {
  BothEndsStats before;
  before.there = EndStats{.elapsed = 1s, .bytes_received = 100};
  BothEndsStats now = before;
  now.there->elapsed = 2s;
  now.there->bytes_received = 0;
  EXPECT_EQ(since(before, now).there->bytes_received, 0U);
}

/// Numbers all that a table reaches from 1 on, and expects to find them so: no two rows have one member.
template <typename Stats>
void expect_rows_of_their_own() {
  Stats stats;
  std::uint64_t next = 0;
  const auto take = [&](auto& number) {
    using Number = std::remove_reference_t<decltype(number)>;
    if constexpr (requires { Number(++next); }) number = Number(++next);
  };
  core::for_each_number(take, stats);
  next = 0;
  core::for_each_number(
      [&](auto number) {
        if constexpr (requires { decltype(number)(++next); }) {
          EXPECT_EQ(number, decltype(number)(++next));
        }
      },
      stats);
  std::set<std::string_view> names;
  core::for_each_field<Stats>([&](const auto& field) { EXPECT_TRUE(names.insert(field.name).second) << field.name; });
}

TEST(StatsFields, HaveANameAndAMemberEach) {
  expect_rows_of_their_own<ConnectionStats>();
  expect_rows_of_their_own<ThreadTime>();
  expect_rows_of_their_own<LossByRate>();
  expect_rows_of_their_own<EndStats>();
}

}  // namespace
}  // namespace udtcat
