#include "lib/transport/native/congestion/rivals.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(Rivals, AreNobodyAtFirst) {
  const Rivals rivals;
  EXPECT_FALSE(rivals.share_queue());
  EXPECT_FALSE(rivals.heedful());
  EXPECT_FALSE(rivals.heedless());
}

TEST(Rivals, ShareTheQueueIfAProbeGainsWhileItStands) {
  Rivals rivals;
  rivals.on_probe_start(mbit(100));
  rivals.on_probe_end(mbit(101), true);
  EXPECT_FALSE(rivals.share_queue()) << "no gain";
  rivals.on_probe_start(mbit(100));
  rivals.on_probe_end(mbit(120), false);
  EXPECT_FALSE(rivals.share_queue()) << "the path had more";
  rivals.on_probe_start(mbit(100));
  rivals.on_probe_end(mbit(110), true);
  EXPECT_TRUE(rivals.share_queue());
}

TEST(Rivals, AreHeedfulIfTheQueueOverflowsNowAndThen) {
  Rivals rivals;
  for (int loss = 0; loss < 10; ++loss) {
    rivals.on_round_trip(true, true);
    for (int round = 0; round < 200; ++round) rivals.on_round_trip(false, true);
    EXPECT_TRUE(rivals.heedful());
    EXPECT_FALSE(rivals.heedless());
  }
  for (int round = 0; round < 500; ++round) rivals.on_round_trip(false, true);
  EXPECT_FALSE(rivals.heedful()) << "gone";
}

TEST(Rivals, AreHeedlessIfItOverflowsAgainAndAgain) {
  Rivals rivals;
  for (int round = 0; round < 200; ++round) rivals.on_round_trip(round % 8 == 0, true);
  EXPECT_TRUE(rivals.heedless());
  EXPECT_FALSE(rivals.heedful());
  for (int round = 0; round < 200; ++round) rivals.on_round_trip(false, true);
  EXPECT_FALSE(rivals.heedless());
}

TEST(Rivals, AreNotToBlameForWhatOurOwnProbeLeft) {
  Rivals rivals;
  for (int round = 0; round < 200; ++round) rivals.on_round_trip(true, false);
  EXPECT_FALSE(rivals.heedless());
}

TEST(Rivals, AreDoubtedWhenTheQueueEmptiesForUs) {
  Rivals rivals;
  for (int round = 0; round < 8; ++round) rivals.on_round_trip(true, true);
  ASSERT_TRUE(rivals.heedless());
  rivals.on_empty_queue();
  EXPECT_FALSE(rivals.heedless());
}

}  // namespace
}  // namespace udtcat::transport::native::test
