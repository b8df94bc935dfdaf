// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/flow_watch.hpp"

#include <array>

#include <gmock/gmock.h>

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class FlowWatchTest : public ::testing::Test {
 protected:
  FlowWatchTest() {
    for (const std::uint8_t number : std::array<std::uint8_t, 3>{0, 1, 2})
      flows.push_back({.name = {number, 1}, .rtt = 10ms});
  }
  /// Looks every 100 ms for so long, while the flows go on that are not named.
  std::vector<std::uint8_t> pass(std::chrono::milliseconds time, std::vector<std::size_t> stand_still = {}) {
    std::vector<std::uint8_t> silent;
    for (const auto until = now + time; now < until;) {
      now += 100ms;
      for (std::size_t i = 0; i < flows.size(); ++i)
        if (std::ranges::find(stand_still, i) == stand_still.end()) {
          flows[i].acknowledged += 1000;
          flows[i].received += 1000;
        }
      silent = watch.look(now, flows);
    }
    return silent;
  }

  FlowWatch::TimePoint now{1h};
  std::vector<session::FlowProgress> flows;
  FlowWatch watch;
};

TEST_F(FlowWatchTest, SeesOneThatOwesAnAnswerWhileOthersGoOn) {
  EXPECT_THAT(pass(1s), IsEmpty());
  flows[1].unanswered_since = now;
  EXPECT_THAT(pass(400ms, {1}), IsEmpty());
  EXPECT_THAT(pass(200ms, {1}), ElementsAre(1));
  flows[1].unanswered_since.reset();
  EXPECT_THAT(pass(100ms), IsEmpty()) << "it goes on";
}

TEST_F(FlowWatchTest, SeesOneThatAloneCanBringTheNext) {
  EXPECT_THAT(pass(1s), IsEmpty());
  EXPECT_THAT(pass(1s, {2}), IsEmpty()) << "nothing is awaited of it";
  flows[2].awaited = true;
  EXPECT_THAT(pass(700ms, {2}), ElementsAre(2));
}

TEST_F(FlowWatchTest, WaitsForLongRoundTrips) {
  flows[0].rtt = 600ms;
  pass(1s);
  flows[0].unanswered_since = now;
  EXPECT_THAT(pass(2300ms, {0}), IsEmpty());
  EXPECT_THAT(pass(300ms, {0}), ElementsAre(0));
}

TEST_F(FlowWatchTest, WaitsTwiceAsLongWhereAllAreSilent) {
  EXPECT_THAT(pass(1s), IsEmpty());
  for (auto& flow : flows) flow.unanswered_since = now;
  EXPECT_THAT(pass(900ms, {0, 1, 2}), IsEmpty());
  EXPECT_THAT(pass(200ms, {0, 1, 2}), ElementsAre(0, 1, 2));
}

TEST_F(FlowWatchTest, BlamesNobodyWhereNoAnswerIsDue) {
  for (auto& flow : flows) flow.awaited = true;
  EXPECT_THAT(pass(1s), IsEmpty());
  EXPECT_THAT(pass(5s, {0, 1, 2}), IsEmpty()) << "the peer has nothing to say";
}

TEST_F(FlowWatchTest, LeavesOutThoseThatAreBroken) {
  flows[1].unanswered_since = now;
  flows[1].broken = true;
  EXPECT_THAT(pass(2s, {1}), IsEmpty());
}

TEST_F(FlowWatchTest, TakesAnotherAttemptForAnotherFlow) {
  flows[1].awaited = true;
  EXPECT_THAT(pass(1s, {1}), ElementsAre(1));
  flows[1].name.attempt = 2;
  EXPECT_THAT(pass(300ms, {1}), IsEmpty());
}

}  // namespace
}  // namespace udtcat::connection
