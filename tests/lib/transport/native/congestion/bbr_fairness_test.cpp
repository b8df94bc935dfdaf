// SPDX-License-Identifier: Apache-2.0
/// Many flows of class Bbr in one bottleneck, among themselves and beside CUBIC: shares, losses, evenness (ADR-0059).
#include <chrono>
#include <list>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bbr.hpp"
#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/cubic.hpp"
#include "lib/transport/native/congestion/events.hpp"
#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native::test {
namespace {

/// 200 Mbit/s, 40 ms and a queue of some bandwidth-delay products for half a minute, of which the last 17 s count.
class FlowsAmongFlows : public testing::TestWithParam<double> {
 protected:
  struct Shares {
    double sum = 0;   // of the path
    double loss = 0;  // of what was sent
    double jain = 0;
  };

  void add_ours(int count, Duration start = {}) {
    for (int flow = 0; flow < count; ++flow) {
      const auto begins = at(start + flow * kApart);
      ours_.push_back(&bottleneck_.add(std::make_unique<Bbr>(path_.packet_bytes, begins, ++seed_), begins));
    }
  }
  void add_cubic(int count, Duration start = {}) {
    for (int flow = 0; flow < count; ++flow)
      theirs_.push_back(
          &bottleneck_.add(std::make_unique<Cubic>(path_.packet_bytes), at(start + 10ms + flow * kApart)));
  }
  [[nodiscard]] Shares run() {
    bottleneck_.run_until(13s);
    std::vector<std::uint64_t> delivered;
    std::vector<std::uint64_t> lost;
    for (const auto* flow : ours_) {
      delivered.push_back(flow->delivered_bytes());
      lost.push_back(flow->lost_bytes());
    }
    bottleneck_.run_until(30s);
    double sum = 0;
    double squares = 0;
    double lost_sum = 0;
    for (std::size_t flow = 0; flow < ours_.size(); ++flow) {
      const auto bytes = static_cast<double>(ours_[flow]->delivered_bytes() - delivered[flow]);
      sum += bytes;
      squares += bytes * bytes;
      lost_sum += static_cast<double>(ours_[flow]->lost_bytes() - lost[flow]);
    }
    return {.sum = share(path_, static_cast<std::uint64_t>(sum), 17s),
            .loss = lost_sum / (lost_sum + sum),
            .jain = sum * sum / (static_cast<double>(ours_.size()) * squares)};
  }

 private:
  static constexpr Duration kApart = 37ms;  // so that no two do all at the same time

  Path path_{.rate = mbit(200),
             .rtt = 40ms,
             .buffer_bytes = scaled(bytes_during(mbit(200), 40ms), GetParam()),
             .packet_bytes = 2'000};
  Bottleneck bottleneck_{path_};
  std::uint32_t seed_ = 0;
  std::vector<Flow*> ours_;
  std::vector<Flow*> theirs_;
};

TEST_P(FlowsAmongFlows, TakeNoMoreFromAsManyCubicThanHalfOfTheirShare) {
  add_ours(5);
  add_cubic(5);
  const auto ours = run();
  EXPECT_LE(ours.sum, 0.75);
  EXPECT_GE(ours.sum, 0.2);
  EXPECT_LE(ours.loss, 0.02);
}

TEST_P(FlowsAmongFlows, LeaveCubicThatComesLaterHalfOfItsShare) {
  add_ours(5);
  add_cubic(5, 8s);
  EXPECT_LE(run().sum, 0.75);
}

// A fair share is a tenth (ADR-0059: open).
TEST_P(FlowsAmongFlows, LeaveNineCubicTwoThirdsOfThePath) {
  add_ours(1);
  add_cubic(9);
  const auto ours = run();
  EXPECT_LE(ours.sum, 0.33);
  EXPECT_GE(ours.sum, 0.05);
}

TEST_P(FlowsAmongFlows, ShareEvenlyAndLoseLittleAsEight) {
  add_ours(8);
  const auto ours = run();
  EXPECT_GE(ours.sum, 0.95);
  EXPECT_LE(ours.loss, 0.02);
  EXPECT_GE(ours.jain, 0.84);
}

TEST_P(FlowsAmongFlows, ShareEvenlyAndLoseLittleAsTwenty) {
  add_ours(20);
  const auto ours = run();
  EXPECT_GE(ours.sum, 0.95);
  EXPECT_LE(ours.loss, 0.05) << "of most starts it is less than a hundredth";
  EXPECT_GE(ours.jain, 0.85);
}

TEST_P(FlowsAmongFlows, MakeRoomForLaterFlowsOfTheirKind) {
  add_ours(4);
  add_ours(4, 8s);
  const auto ours = run();
  EXPECT_GE(ours.sum, 0.95);
  EXPECT_LE(ours.loss, 0.02);
  EXPECT_GE(ours.jain, 0.8);
}

INSTANTIATE_TEST_SUITE_P(Queues, FlowsAmongFlows, testing::Values(0.5, 1.0, 4.0));

/// Behind a queue too short to see.
using FlowsAmongFlowsUnseen = FlowsAmongFlows;

TEST_P(FlowsAmongFlowsUnseen, LoseLittleToEachOtherAsTwo) {
  add_ours(2);
  const auto ours = run();
  EXPECT_GE(ours.sum, 0.9);
  EXPECT_LE(ours.loss, 0.03);
  EXPECT_GE(ours.jain, 0.9);
}

INSTANTIATE_TEST_SUITE_P(Queues, FlowsAmongFlowsUnseen, testing::Values(0.1));

/// Four flows, coupled or not, on one path of 100 Mbit/s and 26 ms or on one each (ADR-0078).
class CoupledFlows : public testing::Test {
 protected:
  static constexpr std::size_t kFlows = 4;

  struct Outcome {
    double sum = 0;  // of all paths
    double jain = 0;
    Duration queue{0};  // the mean of the first path's
  };
  Outcome run(const std::shared_ptr<FlowGroup>& group, std::size_t paths, Duration queue) {
    const Path path{
        .rate = mbit(100), .rtt = 26ms, .buffer_bytes = bytes_during(mbit(100), queue), .packet_bytes = 1'456};
    std::list<Bottleneck> bottlenecks;
    for (std::size_t i = 0; i < paths; ++i) bottlenecks.emplace_back(path, static_cast<std::uint32_t>(i + 1));
    std::vector<const Flow*> flows;
    for (std::size_t i = 0; i < kFlows; ++i) {
      const auto begins = at(static_cast<int>(i) * 13ms);
      auto& on = *std::next(bottlenecks.begin(), static_cast<std::ptrdiff_t>(i % paths));
      flows.push_back(&on.add(
          std::make_unique<Bbr>(path.packet_bytes, begins, static_cast<std::uint32_t>(i + 1), 0, group), begins));
    }
    std::vector<std::uint64_t> before(kFlows);
    std::uint64_t queued = 0;
    for (auto now = 0ms; now < kEnd; now += kStep) {
      for (auto& each : bottlenecks) each.run_until(now);
      if (now > kBegin) queued += bottlenecks.front().queued_bytes();
      if (now <= kBegin)
        for (std::size_t i = 0; i < kFlows; ++i) before[i] = flows[i]->delivered_bytes();
    }
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < kFlows; ++i) {
      const auto bytes = static_cast<double>(flows[i]->delivered_bytes() - before[i]);
      sum += bytes;
      squares += bytes * bytes;
    }
    const auto samples = static_cast<std::uint64_t>((kEnd - kBegin) / kStep);
    return {.sum = share(path, static_cast<std::uint64_t>(sum), kEnd - kBegin) / static_cast<double>(paths),
            .jain = sum * sum / (static_cast<double>(kFlows) * squares),
            .queue = std::chrono::nanoseconds(8) * (queued / samples * 1'000'000'000 / path.rate.bits_per_second())};
  }

 private:
  static constexpr auto kBegin = 4s;
  static constexpr auto kEnd = 24s;
  static constexpr auto kStep = 2ms;
};

TEST_F(CoupledFlows, KeepTheQueueOfTheirBottleneckShort) {
  for (const Duration queue : {50ms, 100ms, 200ms}) {
    const auto uncoupled = run(nullptr, 1, queue);
    const auto coupled = run(std::make_shared<FlowGroup>(), 1, queue);
    EXPECT_LE(coupled.queue, 18ms);
    EXPECT_LE(coupled.queue, 7 * uncoupled.queue / 10);
    EXPECT_GE(coupled.sum, 0.98);
    EXPECT_GE(coupled.jain, 0.8);
  }
}

TEST_F(CoupledFlows, UsePathsOfTheirOwnAsIfTheyWereAlone) {
  for (const Duration queue : {10ms, 50ms}) {
    const auto uncoupled = run(nullptr, kFlows, queue);
    const auto coupled = run(std::make_shared<FlowGroup>(), kFlows, queue);
    EXPECT_GE(coupled.sum, 0.99 * uncoupled.sum);
  }
}

}  // namespace
}  // namespace udtcat::transport::native::test
