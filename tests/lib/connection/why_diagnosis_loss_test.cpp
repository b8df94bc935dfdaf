// SPDX-License-Identifier: Apache-2.0
/// src/lib/connection/why_diagnosis.cpp: the diagnosis of loss: a policer's, a queue's, chance's, or not known.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "lib/connection/both_ends.hpp"
#include "lib/core/stats_fields.hpp"

namespace udtcat {
namespace {

using namespace std::chrono_literals;

/// Spans of 50 ms: what left in each, and what of it was lost.
void lose(EndStats& sender, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& spans) {
  LossByRate& sums = sender.loss_by_rate;
  std::uint64_t lost_before = 0;
  for (const auto& [sent, lost] : spans) {
    const LossByRate span{1, sent, lost, sent * sent, sent * lost};
    sums = core::sum(sums, span);
    if (std::exchange(lost_before, lost) > 0) sender.loss_behind_loss = core::sum(sender.loss_behind_loss, span);
  }
  sender.packets_sent = sums.sent;
  sender.packets_lost = sums.lost;
}

/// The spans of a sender that doubles its rate, and then goes up and down.
std::vector<std::pair<std::uint64_t, std::uint64_t>> lost_of(const std::function<std::uint64_t(std::uint64_t)>& lost) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  for (const std::uint64_t sent :
       {10U, 20U, 40U, 80U, 160U, 320U, 160U, 200U, 250U, 200U, 200U, 180U, 200U, 250U, 200U, 200U})
    spans.emplace_back(sent, lost(sent));
  return spans;
}

TEST(DiagnosisOfLoss, CallsNoLossOfMostPacketsChance) {
  BothEndsStats most = stalled_by(StallReason::path);
  lose(most.here, lost_of([](std::uint64_t sent) { return sent * 6 / 10; }));
  EXPECT_EQ(word(most), "");
}

TEST(DiagnosisOfLoss, TellsLossFromAPolicerByWhetherItGrowsWithTheRate) {
  BothEndsStats lossy = stalled_by(StallReason::path);
  lose(lossy.here, lost_of([](std::uint64_t sent) { return sent / 20; }));
  EXPECT_EQ(word(lossy), "loss") << "one in twenty of any";
  BothEndsStats trains = stalled_by(StallReason::path);
  lose(trains.here, lost_of([](std::uint64_t sent) { return sent / 40; }));
  EXPECT_EQ(word(trains), "") << "a queue of a few packets loses as much of trains at any rate";
  BothEndsStats policed = stalled_by(StallReason::path);
  lose(policed.here, lost_of([](std::uint64_t sent) { return sent - std::min<std::uint64_t>(sent, 120); }));
  EXPECT_EQ(word(policed), "policer");
  EXPECT_EQ(word(from_the_other_end(policed)), "policer");
}

/// As wanlab's links and nft's policers made it, which let a second's worth through at first.
struct Recorded {
  const char* what;
  std::uint64_t sent, lost, queued_lost;
  LossByRate all, behind_loss;
  const char* word;
};

TEST(DiagnosisOfLoss, OnRecordedLossIsRightOrSilent) {
  for (const auto& [what, sent, lost, queued, all, behind, said] : {
           Recorded{"policer, 1 Gbit/s",
                    279660,
                    29622,
                    9819,
                    {34, 232277, 8322, 2370709423, 56930708},
                    {12, 58931, 8322, 306091557, 56930708},
                    "policer"},
           {"policer, 1 Gbit/s",
            236309,
            25867,
            8353,
            {33, 183345, 4025, 1449640399, 20720780},
            {12, 53109, 3517, 243379251, 17414732},
            "policer"},
           {"policer, 1 Gbit/s, that loses as much of all as of what was sent fast",
            228360,
            29906,
            14950,
            {32, 168701, 5824, 1336802803, 46876860},
            {11, 45732, 1102, 209814752, 5032186},
            ""},
           {"policer, 500 Mbit/s",
            130387,
            27953,
            17682,
            {36, 85121, 5572, 332824479, 24310230},
            {6, 18266, 5572, 62970028, 24310230},
            "policer"},
           {"policer, 500 Mbit/s, of a queue on the way",
            148282,
            37521,
            28631,
            {30, 61841, 319, 137690011, 783145},
            {1, 1000, 319, 1000000, 319000},
            ""},
           {"policer, 100 Mbit/s",
            88677,
            57744,
            15222,
            {52, 62299, 34052, 110928131, 60988244},
            {39, 49055, 31840, 77845529, 55215688},
            "policer"},
           {"policer, 20 Mbit/s",
            13884,
            7045,
            3217,
            {41, 7835, 2537, 2497035, 768426},
            {18, 3887, 2071, 1003471, 600873},
            "policer"},
           {"policer, 1 Mbit/s", 523, 220, 0, {33, 518, 220, 10832, 4963}, {26, 417, 214, 8621, 4869}, "policer"},
           {"queue of 50 KiB",
            15796,
            1498,
            0,
            {46, 15498, 1480, 5712860, 791083},
            {42, 14573, 1262, 5296733, 662245},
            "policer"},
           {"chance, 5 %", 12425, 819, 364, {31, 8266, 403, 2363654, 114936}, {28, 8104, 392, 2347728, 113627}, "loss"},
           {"chance, 20 %", 6583, 1253, 29, {54, 2784, 521, 177558, 32889}, {52, 2614, 495, 162716, 30679}, "loss"},
           {"chance, 1 % in rows of ten",
            18121,
            443,
            203,
            {35, 13654, 137, 5569560, 56552},
            {12, 4797, 39, 1967081, 15249},
            ""},
       }) {
    BothEndsStats ends = stalled_by(StallReason::path);
    ends.here.packets_sent = sent;
    ends.here.packets_lost = lost;
    ends.here.queued_lost = queued;
    ends.here.loss_by_rate = all;
    ends.here.loss_behind_loss = behind;
    EXPECT_EQ(word(ends), said) << what << ", " << sent;
  }
}

TEST(DiagnosisOfLoss, BlamesNoPathOfASessionThatWentToAnother) {
  BothEndsStats moved = stalled_by(StallReason::path);
  lose(moved.here, lost_of([](std::uint64_t sent) { return sent - std::min<std::uint64_t>(sent, 120); }));
  moved.here.path_changes = 1;
  EXPECT_EQ(word(moved), "");
  EXPECT_TRUE(diagnose(moved).path_changed);
  BothEndsStats after = moved;
  after.here.elapsed += kTime;
  after.here.bytes_sent += 100'000'000;
  stalled(after.here, StallReason::path) += kTime;
  EXPECT_EQ(word(since(moved, after)), "path") << "the one that is used now";
  stalled(moved.here, StallReason::path) = 0us;
  stalled(moved.here, StallReason::source) = kTime;
  EXPECT_EQ(word(moved), "source");
}

TEST(DiagnosisOfLoss, BlamesNoPathWithoutARateForItsLoss) {
  BothEndsStats tunnelled = stalled_by(StallReason::path);
  lose(tunnelled.here, lost_of([](std::uint64_t sent) { return sent - std::min<std::uint64_t>(sent, 120); }));
  tunnelled.here.path_rate = {};
  EXPECT_EQ(word(tunnelled), "");
}

TEST(DiagnosisOfLoss, SaysNothingOfLossAtOneRateAlone) {
  BothEndsStats steady = stalled_by(StallReason::path);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans(20, {100, 40});
  lose(steady.here, spans);
  EXPECT_EQ(word(steady), "");
  steady.here.loss_by_rate = {};
  EXPECT_EQ(word(steady), "") << "an older peer's";
}

TEST(DiagnosisOfLoss, SaysNothingOfTheLossOfAFewPackets) {
  BothEndsStats few = stalled_by(StallReason::path);
  lose(few.here, {{10, 1}, {20, 0}, {40, 12}, {80, 52}});
  EXPECT_NE(word(few), "loss");
  EXPECT_NE(word(few), "policer");
}

TEST(DiagnosisOfLoss, SaysHowMuchOfTheLossAQueueMade) {
  BothEndsStats full = stalled_by(StallReason::path);
  full.here.packets_lost = 2800;
  full.here.queued_lost = 2700;
  EXPECT_EQ(word(full), "path") << "a beginning that fills the queue loses most, and the mean round trip is short";
  full.here.rtt_sum = 200ms * 1000;
  const Diagnosis diagnosis = diagnose(full);
  EXPECT_EQ(diagnosis.limit, Limit::path);
  EXPECT_EQ(diagnosis.queue, 160ms);
  EXPECT_DOUBLE_EQ(diagnosis.lost, 0.04);
  EXPECT_DOUBLE_EQ(diagnosis.queued_lost, 2700.0 / 70'000);
}

}  // namespace
}  // namespace udtcat
