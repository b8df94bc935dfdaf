// SPDX-License-Identifier: Apache-2.0
#include "wan/link_model.hpp"

#include <gtest/gtest.h>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

/// 1500-byte packets, as a bulk transfer makes them.
Shape segments(std::size_t count) {
  return {.header_bytes = 52, .payload_bytes = 1448 * count, .segment_bytes = 1448, .segments = count};
}

class LinkModelTest : public testing::Test {
 protected:
  LinkModel& link(const LinkSettings& settings) { return model_.emplace(settings, random_, now_); }
  /// All that has left by then, relative to now.
  const std::vector<Departure>& leave(std::chrono::nanoseconds by = 0s) {
    departures_.clear();
    while (const auto departure = model_->next_departure(now_ + by)) departures_.push_back(*departure);
    return departures_;
  }
  /// How many of the packet's segments wait, after all has left that had to.
  std::size_t offer(const Shape& shape) {
    leave();
    return model_->offer(shape, now_);
  }
  void set(const LinkSettings& settings) {
    leave();
    model_->set(settings, now_);
  }
  /// How many segments have left, and will arrive.
  [[nodiscard]] std::size_t arrived() const {
    std::size_t count = 0;
    for (const Departure& departure : departures_)
      count += departure.count * static_cast<std::size_t>(departure.copies);
    return count;
  }
  [[nodiscard]] std::chrono::nanoseconds delay_of_last() const { return departures_.back().due - now_; }

  Random random_{3};
  TimePoint now_{1h};
  std::optional<LinkModel> model_;
  std::vector<Departure> departures_;
};

TEST_F(LinkModelTest, WithoutLimitsDeliversWholeAndAtOnce) {
  link({});
  offer(segments(44));
  ASSERT_EQ(leave().size(), 1U);
  EXPECT_EQ(departures_[0].count, 44U);
  EXPECT_TRUE(departures_[0].is_last);
  EXPECT_EQ(departures_[0].due, now_);
}

TEST_F(LinkModelTest, TakesTheTimeThatItsRateAndDelaySay) {
  link({.rate = *core::parse_rate("10G"), .delay = 37500us});
  offer(segments(44));
  EXPECT_EQ(model_->next_due(), now_ + 37500us + 52800ns);  // 44 x 1500 x 8 bits at 10 Gbit/s
  leave(52800ns);
  EXPECT_EQ(delay_of_last(), 37500us + 52800ns);
}

TEST_F(LinkModelTest, CarriesItsRateAndNotABitMore) {
  link({.rate = *core::parse_rate("1G"), .queue_bytes = kGiB});
  for (int i = 0; i < 10'000; ++i) offer(segments(10));
  leave(1h);
  EXPECT_NEAR(10'000.0 * 10 * 1500 * 8 / std::chrono::duration<double>(delay_of_last()).count(), 1e9, 1e3);
}

TEST_F(LinkModelTest, CutsASlowLinksSuperPacketsSoThatTheFirstNeedNotWaitForTheLast) {
  link({.rate = *core::parse_rate("100M")});
  offer(segments(44));
  leave(1s);
  EXPECT_EQ(arrived(), 44U);
  EXPECT_LE(departures_.front().due - now_, 250us);
  EXPECT_EQ(delay_of_last(), 5280us);
}

TEST_F(LinkModelTest, DropsTheTailOfAFullQueue) {
  link({.rate = *core::parse_rate("100M"), .queue_bytes = 15'000});
  EXPECT_EQ(offer(segments(44)), 10U);
  EXPECT_EQ(model_->counters().tail_dropped, 34U);
  leave(1s);
  EXPECT_EQ(departures_.front().first, 0U);
  EXPECT_TRUE(departures_.back().is_last) << "of those that wait";
  EXPECT_EQ(arrived(), 10U);
}

TEST_F(LinkModelTest, PolicesEachFlowAndThenAll) {
  const Flow first{.from = {.port = 1}, .protocol = 17};
  const Flow second{.from = {.port = 2}, .protocol = 17};
  LinkSettings settings{
      .rate = *core::parse_rate("10G"), .flow_rate = *core::parse_rate("100M"), .flow_burst_bytes = 15'000};
  link(settings);
  EXPECT_EQ(model_->offer(segments(44), now_, first), 10U);
  EXPECT_EQ(model_->offer(segments(44), now_, second), 10U);
  EXPECT_EQ(model_->offer(segments(1), now_, first), 0U);
  EXPECT_EQ(model_->counters().policed, 34U + 34U + 1U);
  settings.police_rate = *core::parse_rate("1G");
  settings.police_burst_bytes = 22'500;
  link(settings);
  EXPECT_EQ(model_->offer(segments(44), now_, first), 10U);
  EXPECT_EQ(model_->offer(segments(44), now_, second), 5U) << "all have a policer besides";
}

TEST_F(LinkModelTest, EmptiesItsQueueAsTimePasses) {
  link({.rate = *core::parse_rate("100M"), .queue_bytes = 15'000});
  offer(segments(10));
  now_ += 600us;  // half of them have been sent
  EXPECT_EQ(offer(segments(10)), 5U);
}

TEST_F(LinkModelTest, HasAQueueInTimeWhateverItsRate) {
  for (const char* rate : {"10M", "100M", "1G"}) {
    link({.rate = *core::parse_rate(rate), .queue_time = 12ms});
    std::size_t waiting = 0;
    for (int i = 0; i < 100; ++i) waiting += offer(segments(20));
    EXPECT_EQ(waiting, core::parse_rate(rate)->bytes_per_second() * 12 / 1000 / 1500) << rate;
  }
  set({.rate = *core::parse_rate("1M"), .queue_time = 12ms});
  EXPECT_EQ(offer(segments(1)), 0U) << "what waits takes twelve seconds now";
}

TEST_F(LinkModelTest, BoundsAQueueInTimeByTheLabsMemory) {
  link({.rate = *core::parse_rate("10G"), .queue_time = 60s});
  std::size_t waiting = 0;
  for (std::size_t i = 0; i <= kMostQueueBytes / 66'000; ++i) waiting += offer(segments(44));
  EXPECT_EQ(waiting, kMostQueueBytes / 1500);
  EXPECT_EQ(offer(segments(1)), 0U);
}

TEST_F(LinkModelTest, SendsWhatWaitsAtTheNewRateWhenItFalls) {
  link({.rate = *core::parse_rate("1G"), .queue_bytes = 150'000});
  for (int i = 0; i < 100'000; ++i, now_ += 80us) offer(segments(7));  // 8 s busy
  while (offer(segments(1)) > 0) continue;
  set({.rate = *core::parse_rate("10M"), .queue_bytes = 150'000});
  EXPECT_EQ(offer(segments(1)), 0U) << "it is as full as it was";
  leave(12ms);
  EXPECT_EQ(arrived(), 10U) << "a packet each 1.2 ms";
  now_ += 12ms;
  EXPECT_EQ(offer(segments(44)), 10U);
}

TEST_F(LinkModelTest, SendsWhatWaitsAtTheNewRateWhenItRises) {
  link({.rate = *core::parse_rate("1M"), .queue_bytes = 150'000});
  for (int i = 0; i < 10; ++i) offer(segments(10));
  EXPECT_EQ(offer(segments(1)), 0U) << "the queue should be full";
  now_ += 6ms;  // half of the first
  set({.rate = *core::parse_rate("40M"), .queue_bytes = 150'000});
  leave(150us);
  EXPECT_EQ(arrived(), 1U) << "its other half takes 150 us";
  leave(30ms - 151us);
  EXPECT_EQ(arrived(), 98U);
  leave(30ms - 150us);
  EXPECT_EQ(arrived(), 1U);
}

TEST_F(LinkModelTest, DelaysWhatWaitsByTheNewDelay) {
  link({.rate = *core::parse_rate("8M"), .delay = 10ms});
  offer(segments(2));
  now_ += 1500us;
  ASSERT_EQ(leave().size(), 1U);
  EXPECT_EQ(delay_of_last(), 10ms) << "it had left";
  set({.rate = *core::parse_rate("8M"), .delay = 100ms});
  leave(1500us);
  EXPECT_EQ(delay_of_last(), 101500us);
}

TEST_F(LinkModelTest, LosesWhatLeavesWhileItIsDown) {
  link({.rate = *core::parse_rate("8M")});
  offer(segments(3));
  now_ += 1500us;
  leave();
  EXPECT_EQ(arrived(), 1U);
  model_->set_down(true);
  leave(1500us);
  EXPECT_EQ(arrived(), 0U);
  model_->set_down(false);
  leave(3ms);
  EXPECT_EQ(arrived(), 1U);
  EXPECT_EQ(model_->counters().blacked_out, 1U);
}

TEST_F(LinkModelTest, WithoutAQueuePassesWhatFindsItIdle) {
  link({.rate = *core::parse_rate("100M"), .queue_bytes = 0});
  EXPECT_EQ(offer(segments(1)), 1U);
  EXPECT_EQ(offer(segments(1)), 0U);
  now_ += 120us;
  EXPECT_EQ(offer(segments(1)), 1U);
}

TEST_F(LinkModelTest, LosesItsShareAndNothingElse) {
  link({.loss = 0.01});
  std::size_t total = 0;
  for (int i = 0; i < 10'000; ++i) {
    offer(segments(40));
    leave();
    total += arrived();
  }
  EXPECT_EQ(model_->counters().lost, 400'000 - total);
  EXPECT_NEAR(static_cast<double>(model_->counters().lost), 4000, 4 * 63);
}

TEST_F(LinkModelTest, ChargesTheLinkForWhatItLoses) {
  link({.rate = *core::parse_rate("1G"), .loss = 0.5, .queue_bytes = kGiB});
  for (int i = 0; i < 1000; ++i) offer(segments(40));
  leave(479ms);
  EXPECT_NEAR(static_cast<double>(model_->counters().lost), 20'000, 4 * 100) << "of all but the last ms";
  leave(480ms);
  EXPECT_EQ(model_->next_departure(now_ + 1h), std::nullopt);
}

TEST_F(LinkModelTest, NeverReordersUnasked) {
  link({.rate = *core::parse_rate("1G"), .delay = 10ms, .loss = 0.05});
  TimePoint last{};
  for (int i = 0; i < 1000; ++i) {
    offer(segments(20));
    now_ += 100us;
    for (const Departure& departure : leave()) {
      if (departure.copies == 0) continue;
      EXPECT_GE(departure.due, last);
      last = departure.due;
    }
  }
}

TEST_F(LinkModelTest, MakesItsShareLateByTheReorderDelay) {
  link({.delay = 1ms, .reorder = 0.02, .reorder_delay = 3ms});
  for (int i = 0; i < 10'000; ++i) {
    offer(segments(10));
    for (const Departure& departure : leave()) {
      EXPECT_EQ(departure.due - now_, departure.late ? 4ms : 1ms);
      EXPECT_TRUE(!departure.late || departure.count == 1);
    }
  }
  EXPECT_NEAR(static_cast<double>(model_->counters().reordered), 2000, 4 * 45);
}

TEST_F(LinkModelTest, DeliversItsShareTwice) {
  link({.duplicate = 0.1});
  std::size_t total = 0;
  for (int i = 0; i < 1000; ++i) {
    offer(segments(10));
    leave();
    total += arrived();
  }
  EXPECT_EQ(total, 10'000 + model_->counters().duplicated);
  EXPECT_NEAR(static_cast<double>(model_->counters().duplicated), 1000, 4 * 30);
}

TEST_F(LinkModelTest, PassesNothingWhileItIsDown) {
  link({});
  model_->set_down(true);
  EXPECT_EQ(offer(segments(5)), 0U);
  EXPECT_EQ(model_->counters().blacked_out, 5U);
  model_->set_down(false);
  EXPECT_EQ(offer(segments(5)), 5U);
}

TEST_F(LinkModelTest, SwallowsPacketsThatAreTooLongForThePath) {
  link({.drop_above_bytes = 1499});
  EXPECT_EQ(offer(segments(5)), 0U);
  EXPECT_EQ(model_->counters().too_long, 5U);
  set({.drop_above_bytes = 1500});
  EXPECT_EQ(offer(segments(5)), 5U);
}

TEST_F(LinkModelTest, DropsWhatIsAboveAPolicersRateBeforeTheQueue) {
  link({.rate = *core::parse_rate("1G"), .police_rate = *core::parse_rate("12M"), .police_burst_bytes = 15'000});
  EXPECT_EQ(offer(segments(44)), 10U) << "the bucket";
  now_ += 2ms;
  EXPECT_EQ(offer(segments(44)), 2U) << "at 12 Mbit/s";
  EXPECT_EQ(model_->counters().policed, 34U + 42U);
  EXPECT_EQ(model_->counters().tail_dropped, 0U);
}

TEST_F(LinkModelTest, FollowsATrace) {
  auto trace = std::make_shared<const Trace>(*Trace::parse("1\n1\n5\n10\n"));
  link({.rate = trace->mean_rate(), .trace = trace, .delay = 20ms});
  offer(segments(5));
  std::vector<std::chrono::nanoseconds> arrivals;
  for (const Departure& departure : leave(1s)) arrivals.push_back(departure.due - now_);
  EXPECT_EQ(arrivals, (std::vector<std::chrono::nanoseconds>{21ms, 21ms, 25ms, 30ms, 31ms}));
}

TEST_F(LinkModelTest, KeepsAStandingQueueShortByCodel) {
  const LinkSettings droptail{.rate = *core::parse_rate("12M"), .queue_bytes = 1'500'000};
  LinkSettings codel = droptail;
  codel.codel = true;
  for (const auto& [settings, least, most] : {std::tuple{droptail, 900ms, 1000ms}, {codel, 0ms, 200ms}}) {
    link(settings);
    // Half as much again as the link carries, of a sender that never slows down: CoDel drops the rest in the end.
    for (int i = 0; i < 90'000; ++i, now_ += 667us) offer(segments(1));
    const auto due = *model_->next_due();
    leave(60s);
    EXPECT_GE(delay_of_last(), least);
    EXPECT_LE(delay_of_last(), most);
    EXPECT_GE(due, now_);
  }
  EXPECT_GT(model_->counters().codel_dropped, 20'000U);
}

}  // namespace
}  // namespace udtcat::wan
