// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/path_validation.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class PathValidationTest : public testing::Test {
 protected:
  std::vector<std::byte> challenge(TimePoint now) {
    return body_of(watch.on_other_address(now, elsewhere, here)->words);
  }
  static std::vector<std::byte> answered_by(const PathValidation& who, const std::vector<std::byte>& body) {
    return body_of(who.on_challenge(body)->words);
  }
  std::vector<std::byte> answered(const std::vector<std::byte>& body) { return answered_by(peer, body); }

  Endpoint home = endpoint("192.0.2.1", 1000);
  Endpoint elsewhere = endpoint("192.0.2.9", 2000);
  Endpoint here = endpoint("192.0.2.2", 0);
  PathValidation watch{home, std::nullopt, {111, 222}};
  PathValidation peer{here, std::nullopt, {222, 111}};
};

TEST_F(PathValidationTest, FollowsThePeerThatRespondsToItsChallenge) {
  const auto answer = answered(challenge(kStart));
  EXPECT_TRUE(watch.peer() == home);
  EXPECT_TRUE(watch.on_response(kStart, elsewhere, answer));
  EXPECT_TRUE(watch.peer() == elsewhere);
  EXPECT_TRUE(watch.local() == here);
  EXPECT_FALSE(watch.on_response(kStart, elsewhere, answer)) << "once";
}

TEST_F(PathValidationTest, TakesWhatComesFromWhereThePeerWasAndAsksWhetherItIsBack) {
  const auto answer = answered(challenge(kStart));
  ASSERT_TRUE(watch.on_response(kStart, elsewhere, answer));
  EXPECT_TRUE(watch.takes_from(kStart, home));
  EXPECT_TRUE(watch.is_to_be_challenged(kStart, home));
  EXPECT_FALSE(watch.takes_from(kStart, elsewhere.with_port(2001)));
  EXPECT_FALSE(watch.takes_from(kStart + 2s, home)) << "another may have that address by then";
}

TEST_F(PathValidationTest, MovesToAnAddressThatItTriesWhenThePeerHasProvedThatItIsThere) {
  watch.try_address(kStart, elsewhere);
  EXPECT_TRUE(watch.poll_try(kStart) == elsewhere);
  EXPECT_FALSE(watch.takes_from(kStart, elsewhere));
  EXPECT_FALSE(watch.challenge_of_try(kStart)) << "nobody has been heard there";
  EXPECT_FALSE(watch.on_challenge_from(here));
  EXPECT_TRUE(watch.on_challenge_from(elsewhere));
  EXPECT_TRUE(watch.takes_from(kStart, elsewhere));
  EXPECT_TRUE(watch.peer() == home) << "a challenge is easily forged";
  const auto answer = answered(body_of(watch.challenge_of_try(kStart)->words));
  EXPECT_TRUE(watch.on_response(kStart, elsewhere, answer));
  EXPECT_TRUE(watch.peer() == elsewhere);
  EXPECT_TRUE(watch.takes_from(kStart, home)) << "what is under way still counts";
  EXPECT_FALSE(watch.is_to_be_challenged(kStart, home)) << "this end has left it";
  EXPECT_FALSE(watch.poll_try(kStart + 10s));
}

TEST_F(PathValidationTest, IgnoresAResponseFromAnAddressThatWasNotChallenged) {
  const auto answer = answered(challenge(kStart));
  EXPECT_FALSE(watch.on_response(kStart, elsewhere.with_port(2001), answer));
  EXPECT_TRUE(watch.peer() == home);
}

TEST_F(PathValidationTest, IgnoresAResponseUnderOtherTokens) {
  PathValidation other{here, std::nullopt, {222, 112}};
  EXPECT_FALSE(watch.on_response(kStart, elsewhere, answered_by(other, challenge(kStart))));
}

TEST_F(PathValidationTest, IgnoresItsOwnResponseSentBack) {
  EXPECT_FALSE(watch.on_response(kStart, elsewhere, answered_by(watch, challenge(kStart))));
}

TEST_F(PathValidationTest, EndsAnExchangeOfChallenges) {
  EXPECT_TRUE(watch.on_other_address(kStart, elsewhere, here, true));
  EXPECT_FALSE(watch.on_other_address(kStart + 100ms, elsewhere, here, true)) << "it has been challenged";
  EXPECT_TRUE(watch.on_other_address(kStart + 200ms, elsewhere, here)) << "another packet";
}

TEST_F(PathValidationTest, KnowsTheAnswerToItsQuestion) {
  const auto question = body_of(watch.question()->words);
  EXPECT_EQ(question, body_of(watch.question()->words)) << "until it has one";
  EXPECT_FALSE(watch.on_answer(answered_by(watch, question))) << "its own, sent back";
  const auto answer = answered(question);
  EXPECT_TRUE(watch.on_answer(answer));
  EXPECT_FALSE(watch.on_answer(answer)) << "once";
  EXPECT_NE(question, body_of(watch.question()->words));
}

TEST_F(PathValidationTest, ChallengesAnAddressAFewTimesASecond) {
  int asked = 0;
  for (TimePoint now = kStart; now < kStart + 1s; now += 1ms)
    if (watch.on_other_address(now, elsewhere, here)) ++asked;
  EXPECT_EQ(asked, 20);
}

TEST_F(PathValidationTest, TakesAResponseThatComesAfterTheNextChallenge) {
  const auto answer = answered(challenge(kStart));
  challenge(kStart + 50ms);
  EXPECT_TRUE(watch.on_response(kStart, elsewhere, answer)) << "on a long path";
}

TEST_F(PathValidationTest, ChallengesEachAddressWithItsOwnNonce) {
  const auto first = challenge(kStart);
  elsewhere = elsewhere.with_port(2001);
  EXPECT_NE(challenge(kStart + 1s), first);
  elsewhere = elsewhere.with_port(2000);
  EXPECT_NE(challenge(kStart + 3s), first);
}

TEST_F(PathValidationTest, ChallengesWithRandomNonces) {
  PathValidation again{home, std::nullopt, {111, 222}};
  EXPECT_NE(body_of(again.on_other_address(kStart, elsewhere, here)->words), challenge(kStart));
}

TEST_F(PathValidationTest, SendsNeitherToken) {
  EXPECT_EQ(challenge(kStart).size(), 8U) << "a number of its own, and nothing else";
}

TEST_F(PathValidationTest, FollowsThePeerWhileAnotherHostSendsPackets) {
  for (std::uint16_t port = 3000; port < 3003; ++port)
    std::ignore = watch.on_other_address(kStart, elsewhere.with_port(port), here);
  const auto answer = answered(challenge(kStart));
  for (TimePoint now = kStart; now < kStart + 1s; now += 1ms)
    for (std::uint16_t port = 3000; port < 3100; ++port)
      std::ignore = watch.on_other_address(now, elsewhere.with_port(port), here);
  EXPECT_TRUE(watch.on_response(kStart, elsewhere, answer));
}

TEST_F(PathValidationTest, ChallengesFewAddressesAtATime) {
  int asked = 0;
  for (std::uint16_t port = 3000; port < 4000; ++port)
    asked += watch.on_other_address(kStart, elsewhere.with_port(port), here) ? 1 : 0;
  EXPECT_EQ(asked, 4);
  EXPECT_FALSE(watch.on_other_address(kStart + 1s, elsewhere, here));
  EXPECT_TRUE(watch.on_other_address(kStart + 3s, elsewhere, here));
}

TEST_F(PathValidationTest, IgnoresAResponseWithoutAChallenge) {
  const std::vector<std::uint32_t> words{0, 0, 0, 111};
  EXPECT_FALSE(watch.on_response(kStart, home, body_of(words)));
}

TEST_F(PathValidationTest, TakesAnyDamagedPacket) {
  const auto asked = challenge(kStart);
  for_each_damage(asked, [&](const auto& body) {
    const auto answer = peer.on_challenge(body);
    EXPECT_TRUE(!answer || !watch.on_response(kStart, elsewhere, body_of(answer->words)));
  });
  for_each_damage(answered(asked), [&](const auto& body) { EXPECT_FALSE(watch.on_response(kStart, elsewhere, body)); });
}

}  // namespace
}  // namespace udtcat::transport::native
