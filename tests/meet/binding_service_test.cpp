// SPDX-License-Identifier: Apache-2.0
#include "meet/binding_service.hpp"

#include <random>

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::meet {
namespace {

using namespace std::chrono_literals;
using net::StunMessage;
using test::address_of;

class BindingServiceTest : public testing::Test {
 protected:
  static std::vector<std::byte> request(unsigned transaction, std::size_t bytes = 0) {
    StunMessage message;
    message.transaction[10] = static_cast<std::byte>(transaction >> 8U);
    message.transaction[11] = static_cast<std::byte>(transaction);
    return net::encode(message, bytes);
  }
  std::vector<std::byte> answer(std::span<const std::byte> datagram, const Endpoint& from) {
    return service_.answer(datagram, from, now_);
  }

  BindingService service_;
  BindingService::TimePoint now_{1h};
  const Endpoint ipv4_ = address_of("192.0.2.1", 4711);
  const Endpoint ipv6_ = address_of("2001:db8::1", 4711);
};

TEST_F(BindingServiceTest, AnswersALongRequestAtOnce) {
  for (const Endpoint& from : {ipv4_, ipv6_}) {
    const auto decoded = net::decode_stun(answer(request(1, 96), from));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->type, StunMessage::Type::success);
    EXPECT_EQ(decoded->mapped_address, from);
    EXPECT_EQ(decoded->transaction[11], std::byte{1});
  }
}

TEST_F(BindingServiceTest, AnswersAFewShortRequestsASecondAtOnce) {
  for (unsigned i = 0; i < BindingService::kShortAnswersASecond; ++i) EXPECT_FALSE(answer(request(i), ipv4_).empty());
  EXPECT_TRUE(answer(request(100), ipv4_).empty());
  now_ += 1s;
  EXPECT_FALSE(answer(request(101), ipv4_).empty());
}

TEST_F(BindingServiceTest, AnswersOtherShortRequestsWhenTheyAreSentAgain) {
  for (unsigned i = 0; i < BindingService::kShortAnswersASecond; ++i) std::ignore = answer(request(100 + i), ipv4_);
  EXPECT_TRUE(answer(request(1), ipv4_).empty());
  EXPECT_TRUE(answer(request(2), ipv4_).empty()) << "another transaction";
  EXPECT_TRUE(answer(request(1), ipv4_.with_port(4712)).empty()) << "another address";
  EXPECT_FALSE(answer(request(1), ipv4_).empty());
}

/// Proves: meet.no-amplification, threat-model.binding-answers
TEST_F(BindingServiceTest, SendsNoMoreThanCame) {
  std::minstd_rand random;
  std::size_t came = 0;
  std::size_t went = 0;
  for (int i = 0; i < 100'000; ++i, now_ += 1ms) {
    auto datagram = request(static_cast<unsigned>(random() % 50), random() % 4 == 0 ? 40 + random() % 60 : 0);
    if (random() % 10 == 0) datagram.resize(random() % datagram.size());
    came += datagram.size();
    went += answer(datagram, random() % 2 == 0 ? ipv4_ : ipv6_).size();
  }
  EXPECT_GT(service_.answered(), 1000U);
  EXPECT_LE(went, came);
}

/// Proves: threat-model.binding-answers
TEST_F(BindingServiceTest, IsBoundInMemoryAndInRate) {
  std::size_t answered = 0;
  for (unsigned i = 0; i < 100'000; ++i) {
    const Endpoint from = address_of("10.0.0.1", static_cast<std::uint16_t>(1 + i % 60'000));
    answered += answer(request(i, 96), from).empty() ? 0U : 1U;
    std::ignore = answer(request(i), from);
  }
  EXPECT_LE(answered, 100U);
  EXPECT_FALSE(answer(request(1, 96), ipv4_).empty()) << "others are answered";
  now_ += 1s;
  EXPECT_FALSE(answer(request(1, 96), address_of("10.0.0.1", 1)).empty());
}

/// Proves: threat-model.binding-answers
TEST_F(BindingServiceTest, AnswersAllSitesTogetherTwoThousandTimesASecond) {
  std::size_t answered = 0;
  for (unsigned i = 0; i < 4'000; ++i) {
    const std::string site = "10." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ".1";
    answered += answer(request(i, 96), address_of(site, 4711)).empty() ? 0U : 1U;
  }
  EXPECT_EQ(answered, 2'000U);
}

TEST_F(BindingServiceTest, SaysWhichAttributesItDoesNotKnow) {
  auto datagram = request(1, 96);
  datagram[20] = std::byte{0x00};
  datagram[21] = std::byte{0x7f};
  const auto decoded = net::decode_stun(answer(datagram, ipv4_));
  ASSERT_TRUE(decoded && decoded->error);
  EXPECT_EQ(decoded->error->code, StunMessage::kUnknownAttribute);
}

TEST_F(BindingServiceTest, AnswersNoAnswer) {
  for (const auto type : {StunMessage::Type::success, StunMessage::Type::error, StunMessage::Type::indication})
    EXPECT_TRUE(answer(net::encode({.type = type}, 96), ipv4_).empty());
}

}  // namespace
}  // namespace udtcat::meet
