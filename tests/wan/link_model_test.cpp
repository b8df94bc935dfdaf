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
  LinkModel& link(const LinkSettings& settings) { return model_.emplace(settings, random_); }
  /// The deliveries, and when relative to now.
  const std::vector<SegmentRun>& offer(const Shape& shape) {
    model_->offer(shape, now_, runs_);
    return runs_;
  }
  [[nodiscard]] std::size_t arrived() const {
    std::size_t count = 0;
    for (const SegmentRun& run : runs_) count += run.count;
    return count;
  }
  [[nodiscard]] std::chrono::nanoseconds delay_of_last() const { return runs_.back().due - now_; }

  Random random_{3};
  std::optional<LinkModel> model_;
  std::vector<SegmentRun> runs_;
  TimePoint now_{1h};
};

TEST_F(LinkModelTest, WithoutLimitsDeliversWholeAndAtOnce) {
  link({});
  offer(segments(44));
  ASSERT_EQ(runs_.size(), 1U);
  EXPECT_EQ(runs_[0].count, 44U);
  EXPECT_EQ(runs_[0].due, now_);
}

TEST_F(LinkModelTest, TakesTheTimeThatItsRateAndDelaySay) {
  link({.rate = *core::parse_rate("10G"), .delay = 37500us});
  offer(segments(44));
  EXPECT_EQ(delay_of_last(), 37500us + 52800ns);  // 44 x 1500 x 8 bits at 10 Gbit/s
}

TEST_F(LinkModelTest, CarriesItsRateAndNotABitMore) {
  link({.rate = *core::parse_rate("1G"), .queue_bytes = kGiB});
  const TimePoint begin = now_;
  for (int i = 0; i < 10'000; ++i) offer(segments(10));
  const double seconds = std::chrono::duration<double>(runs_.back().due - begin).count();
  EXPECT_NEAR(10'000.0 * 10 * 1500 * 8 / seconds, 1e9, 1e3);
}

TEST_F(LinkModelTest, CutsASlowLinksSuperPacketsSoThatTheFirstNeedNotWaitForTheLast) {
  link({.rate = *core::parse_rate("100M")});
  offer(segments(44));
  EXPECT_EQ(arrived(), 44U);
  EXPECT_LE(runs_.front().due - now_, 250us);
  EXPECT_EQ(delay_of_last(), 5280us);
}

TEST_F(LinkModelTest, DropsTheTailOfAFullQueue) {
  link({.rate = *core::parse_rate("100M"), .queue_bytes = 15'000});
  offer(segments(44));
  EXPECT_EQ(arrived(), 10U);
  EXPECT_EQ(runs_.front().first, 0U);
  EXPECT_EQ(model_->counters().tail_dropped, 34U);
}

TEST_F(LinkModelTest, EmptiesItsQueueAsTimePasses) {
  link({.rate = *core::parse_rate("100M"), .queue_bytes = 15'000});
  offer(segments(10));
  now_ += 600us;  // half of them have been sent
  offer(segments(10));
  EXPECT_EQ(arrived(), 5U);
}

TEST_F(LinkModelTest, KeepsItsBacklogInBytesWhenTheRateChanges) {
  link({.rate = *core::parse_rate("1M"), .queue_bytes = 150'000});
  for (int i = 0; i < 10; ++i) offer(segments(10));
  EXPECT_TRUE(offer(segments(1)).empty()) << "the queue should be full";
  model_->set({.rate = *core::parse_rate("1G"), .queue_bytes = 150'000});
  now_ += 2ms;  // longer than 150 000 bytes take at the new rate
  EXPECT_EQ(offer(segments(10)).size(), 1U);
}

TEST_F(LinkModelTest, WithoutAQueuePassesWhatFindsItIdle) {
  link({.rate = *core::parse_rate("100M"), .queue_bytes = 0});
  offer(segments(1));
  EXPECT_EQ(arrived(), 1U);
  offer(segments(1));
  EXPECT_EQ(arrived(), 0U);
}

TEST_F(LinkModelTest, LosesItsShareAndNothingElse) {
  link({.loss = 0.01});
  std::size_t total = 0;
  for (int i = 0; i < 10'000; ++i) {
    offer(segments(40));
    total += arrived();
  }
  EXPECT_EQ(model_->counters().lost, 400'000 - total);
  EXPECT_NEAR(static_cast<double>(model_->counters().lost), 4000, 4 * 63);
}

TEST_F(LinkModelTest, ChargesTheLinkForWhatItLoses) {
  link({.rate = *core::parse_rate("1G"), .loss = 0.5, .queue_bytes = kGiB});
  for (int i = 0; i < 1000; ++i) offer(segments(40));
  now_ += 480ms;  // the time of all of them
  offer(segments(1));
  if (runs_.empty()) offer(segments(1));
  EXPECT_LE(delay_of_last(), 100us);
}

TEST_F(LinkModelTest, NeverReordersUnasked) {
  link({.rate = *core::parse_rate("1G"), .delay = 10ms, .loss = 0.05});
  TimePoint last{};
  for (int i = 0; i < 1000; ++i) {
    for (const SegmentRun& run : offer(segments(20))) {
      EXPECT_GE(run.due, last);
      last = run.due;
    }
    now_ += 100us;
  }
}

TEST_F(LinkModelTest, MakesItsShareLateByTheReorderDelay) {
  link({.delay = 1ms, .reorder = 0.02, .reorder_delay = 3ms});
  for (int i = 0; i < 10'000; ++i)
    for (const SegmentRun& run : offer(segments(10))) {
      EXPECT_EQ(run.due - now_, run.late ? 4ms : 1ms);
      EXPECT_TRUE(!run.late || run.count == 1);
    }
  EXPECT_NEAR(static_cast<double>(model_->counters().reordered), 2000, 4 * 45);
}

TEST_F(LinkModelTest, DeliversItsShareTwice) {
  link({.duplicate = 0.1});
  std::size_t total = 0;
  for (int i = 0; i < 1000; ++i) {
    offer(segments(10));
    total += arrived();
  }
  EXPECT_EQ(total, 10'000 + model_->counters().duplicated);
  EXPECT_NEAR(static_cast<double>(model_->counters().duplicated), 1000, 4 * 30);
}

TEST_F(LinkModelTest, PassesNothingWhileItIsDown) {
  link({});
  model_->set_down(true);
  EXPECT_TRUE(offer(segments(5)).empty());
  EXPECT_EQ(model_->counters().blacked_out, 5U);
  model_->set_down(false);
  EXPECT_EQ(offer(segments(5)).size(), 1U);
}

TEST_F(LinkModelTest, SwallowsPacketsThatAreTooLongForThePath) {
  link({.drop_above_bytes = 1499});
  EXPECT_TRUE(offer(segments(5)).empty());
  EXPECT_EQ(model_->counters().too_long, 5U);
  model_->set({.drop_above_bytes = 1500});
  EXPECT_EQ(offer(segments(5)).size(), 1U);
}

}  // namespace
}  // namespace udtcat::wan
