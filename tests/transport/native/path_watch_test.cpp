#include "transport/native/path_watch.hpp"

#include <gtest/gtest.h>

#include "transport/native/packet.hpp"
#include "transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class Roaming : public testing::Test {
 protected:
  std::vector<std::byte> challenge(TimePoint now) { return body_of(watch.on_stranger(now, elsewhere, here)->words); }
  std::vector<std::byte> answered(const std::vector<std::byte>& body) {
    return body_of(peer.on_challenge(body)->words);
  }

  Endpoint home = endpoint("192.0.2.1", 1000);
  Endpoint elsewhere = endpoint("192.0.2.9", 2000);
  Endpoint here = endpoint("192.0.2.2", 0);
  PathWatch watch{home, std::nullopt, {111, 222}, 7};
  PathWatch peer{here, std::nullopt, {222, 111}, 8};
};

TEST_F(Roaming, FollowsThePeerThatAnswersItsChallenge) {
  const auto answer = answered(challenge(kStart));
  EXPECT_TRUE(watch.peer() == home);
  EXPECT_TRUE(watch.on_response(elsewhere, answer));
  EXPECT_TRUE(watch.peer() == elsewhere);
  EXPECT_TRUE(watch.local() == here);
  EXPECT_FALSE(watch.on_response(elsewhere, answer)) << "once";
}

TEST_F(Roaming, FollowsNobodyWhoAnswersFromElsewhere) {
  const auto answer = answered(challenge(kStart));
  EXPECT_FALSE(watch.on_response(elsewhere.with_port(2001), answer));
  EXPECT_TRUE(watch.peer() == home);
}

TEST_F(Roaming, FollowsNobodyWhoDoesNotKnowTheToken) {
  PathWatch stranger{here, std::nullopt, {222, 112}, 8};
  const auto answer = stranger.on_challenge(challenge(kStart));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(watch.on_response(elsewhere, body_of(answer->words)));
}

TEST_F(Roaming, AnswersNoChallengeOfAnother) {
  PathWatch stranger{home, std::nullopt, {111, 223}, 7};
  EXPECT_FALSE(peer.on_challenge(body_of(stranger.on_stranger(kStart, elsewhere, here)->words)));
}

TEST_F(Roaming, AsksAFewTimesASecond) {
  int asked = 0;
  for (TimePoint now = kStart; now < kStart + 1s; now += 1ms)
    if (watch.on_stranger(now, elsewhere, here)) ++asked;
  EXPECT_EQ(asked, 20);
}

TEST_F(Roaming, TakesAnAnswerThatComesAfterItHasAskedAgain) {
  const auto answer = answered(challenge(kStart));
  challenge(kStart + 50ms);
  EXPECT_TRUE(watch.on_response(elsewhere, answer)) << "on a long path";
}

TEST_F(Roaming, AsksSomethingElseElsewhere) {
  const auto first = challenge(kStart);
  elsewhere = elsewhere.with_port(2001);
  EXPECT_NE(challenge(kStart + 1s), first);
  elsewhere = elsewhere.with_port(2000);
  EXPECT_NE(challenge(kStart + 2s), first);
}

TEST_F(Roaming, SaysNothingOfItsTokenInWhatItAsks) {
  PathWatch other{home, std::nullopt, {999, 222}, 7};
  EXPECT_EQ(body_of(other.on_stranger(kStart, elsewhere, here)->words), challenge(kStart));
}

TEST_F(Roaming, BelievesNoResponseThatItDidNotAskFor) {
  const std::vector<std::uint32_t> words{0, 0, 0, 111};
  EXPECT_FALSE(watch.on_response(home, body_of(words)));
}

TEST_F(Roaming, SurvivesAnyDamage) {
  const auto asked = challenge(kStart);
  for_each_damage(asked, [&](const auto& body) {
    const auto answer = peer.on_challenge(body);
    EXPECT_TRUE(!answer || !watch.on_response(elsewhere, body_of(answer->words)));
  });
  for_each_damage(answered(asked), [&](const auto& body) { EXPECT_FALSE(watch.on_response(elsewhere, body)); });
}

}  // namespace
}  // namespace udtcat::transport::native
