// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/path_watch.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class Roaming : public testing::Test {
 protected:
  std::vector<std::byte> challenge(TimePoint now) { return body_of(watch.on_stranger(now, elsewhere, here)->words); }
  static std::vector<std::byte> answered_by(const PathWatch& who, const std::vector<std::byte>& body) {
    return body_of(who.on_challenge(body)->words);
  }
  std::vector<std::byte> answered(const std::vector<std::byte>& body) { return answered_by(peer, body); }

  Endpoint home = endpoint("192.0.2.1", 1000);
  Endpoint elsewhere = endpoint("192.0.2.9", 2000);
  Endpoint here = endpoint("192.0.2.2", 0);
  PathWatch watch{home, std::nullopt, {111, 222}};
  PathWatch peer{here, std::nullopt, {222, 111}};
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
  PathWatch stranger{here, std::nullopt, {222, 112}};
  EXPECT_FALSE(watch.on_response(elsewhere, answered_by(stranger, challenge(kStart))));
}

TEST_F(Roaming, FollowsNobodyWhoSendsItsOwnKindOfAnswerBack) {
  EXPECT_FALSE(watch.on_response(elsewhere, answered_by(watch, challenge(kStart))));
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
  EXPECT_NE(challenge(kStart + 3s), first);
}

TEST_F(Roaming, AsksWhatNobodyCanForesee) {
  PathWatch again{home, std::nullopt, {111, 222}};
  EXPECT_NE(body_of(again.on_stranger(kStart, elsewhere, here)->words), challenge(kStart));
}

TEST_F(Roaming, TellsAStrangerNeitherToken) {
  EXPECT_EQ(challenge(kStart).size(), 8U) << "a number of its own, and nothing else";
}

TEST_F(Roaming, FollowsThePeerThoughAStrangerKeepsItBusy) {
  for (std::uint16_t port = 3000; port < 3003; ++port)
    std::ignore = watch.on_stranger(kStart, elsewhere.with_port(port), here);
  const auto answer = answered(challenge(kStart));
  for (TimePoint now = kStart; now < kStart + 1s; now += 1ms)
    for (std::uint16_t port = 3000; port < 3100; ++port)
      std::ignore = watch.on_stranger(now, elsewhere.with_port(port), here);
  EXPECT_TRUE(watch.on_response(elsewhere, answer));
}

TEST_F(Roaming, AsksFewAddressesAtATimeAndOthersLater) {
  int asked = 0;
  for (std::uint16_t port = 3000; port < 4000; ++port)
    asked += watch.on_stranger(kStart, elsewhere.with_port(port), here) ? 1 : 0;
  EXPECT_EQ(asked, 4);
  EXPECT_FALSE(watch.on_stranger(kStart + 1s, elsewhere, here));
  EXPECT_TRUE(watch.on_stranger(kStart + 3s, elsewhere, here));
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
