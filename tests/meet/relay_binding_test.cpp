// SPDX-License-Identifier: Apache-2.0
#include "meet/relay_binding.hpp"

#include <random>

#include <gtest/gtest.h>

#include "lib/meeting/username.hpp"
#include "lib/net/stun.hpp"
#include "support/addresses.hpp"

namespace udtcat::meet {
namespace {

using namespace std::chrono_literals;
using net::StunMessage;
using test::address_of;

constexpr std::size_t kRequestBytes = 96;  // spec: docs/spec/meet.md §5

class RelayBindingTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::byte> request(PairRole role, std::optional<std::string> nonce = {},
                                               std::size_t bytes = kRequestBytes) const {
    StunMessage message;
    message.transaction[11] = std::byte{7};
    message.username = meeting::username_of(tokens_[index_of(role)]);
    message.nonce = std::move(nonce);
    return net::encode(message, bytes);
  }
  [[nodiscard]] StunMessage answer_to(const std::vector<std::byte>& request, const Endpoint& from) {
    const auto outcome = binding_.handle(request, from, now_);
    EXPECT_TRUE(outcome);
    EXPECT_LE(outcome->answer.size(), request.size());
    return net::decode_stun(outcome->answer).value_or(StunMessage{});
  }
  [[nodiscard]] std::string nonce_for(const Endpoint& from) {
    return answer_to(request(PairRole::listener), from).nonce.value_or("");
  }
  [[nodiscard]] std::optional<PairRole> role_bound(const std::vector<std::byte>& request, const Endpoint& from) {
    const auto outcome = binding_.handle(request, from, now_);
    return outcome ? outcome->role : std::nullopt;
  }

  RelayTokens tokens_{meeting::Relay::Token{std::byte{1}}, meeting::Relay::Token{std::byte{2}}};
  RelayBinding binding_ = RelayBinding::create(tokens_).value();
  RelayBinding::TimePoint now_{1h};
  const Endpoint ipv4_ = address_of("192.0.2.1", 4711);
  const Endpoint ipv6_ = address_of("2001:db8::1", 4711);
};

TEST_F(RelayBindingTest, AsksForANonceFirst) {
  for (const Endpoint& from : {ipv4_, ipv6_}) {
    const StunMessage answer = answer_to(request(PairRole::listener), from);
    EXPECT_EQ(answer.type, StunMessage::Type::error);
    ASSERT_TRUE(answer.error && answer.nonce);
    EXPECT_EQ(answer.error->code, StunMessage::kStaleNonce);
    EXPECT_EQ(answer.nonce->size(), 16U);
    EXPECT_EQ(answer.transaction[11], std::byte{7});
    EXPECT_EQ(role_bound(request(PairRole::listener), from), std::nullopt);
  }
}

TEST_F(RelayBindingTest, BindsWhoeverBringsTheNonceBack) {
  for (const Endpoint& from : {ipv4_, ipv6_})
    for (const PairRole role : {PairRole::listener, PairRole::connector}) {
      const auto with_nonce = request(role, nonce_for(from));
      EXPECT_EQ(role_bound(with_nonce, from), role);
      const StunMessage answer = answer_to(with_nonce, from);
      EXPECT_EQ(answer.type, StunMessage::Type::success);
      EXPECT_EQ(answer.mapped_address, from);
    }
}

TEST_F(RelayBindingTest, TakesANonceForItsAddressAloneAndForTwoMinutes) {
  const std::string nonce = nonce_for(ipv4_);
  EXPECT_EQ(role_bound(request(PairRole::listener, nonce), ipv4_.with_port(4712)), std::nullopt);
  EXPECT_EQ(role_bound(request(PairRole::listener, nonce), address_of("192.0.2.2", 4711)), std::nullopt);
  now_ += 60s;
  EXPECT_EQ(role_bound(request(PairRole::listener, nonce), ipv4_), PairRole::listener);
  now_ += 60s;
  EXPECT_EQ(role_bound(request(PairRole::listener, nonce), ipv4_), std::nullopt);
}

TEST_F(RelayBindingTest, TakesNoNonceOfAnotherPort) {
  auto other = RelayBinding::create(tokens_).value();
  const auto outcome = other.handle(request(PairRole::listener), ipv4_, now_);
  const auto nonce = net::decode_stun(outcome->answer)->nonce;
  EXPECT_EQ(role_bound(request(PairRole::listener, nonce), ipv4_), std::nullopt);
}

TEST_F(RelayBindingTest, AnswersNobodyWhoDoesNotKnowAToken) {
  tokens_[0].back() ^= std::byte{1};
  EXPECT_FALSE(binding_.handle(request(PairRole::listener), ipv4_, now_));
  StunMessage without_name;
  EXPECT_FALSE(binding_.handle(net::encode(without_name, kRequestBytes), ipv4_, now_));
  std::minstd_rand random;
  for (int i = 0; i < 10'000; ++i) {
    auto datagram = request(PairRole::connector);
    for (int change = 0; change < 3; ++change)
      datagram[20 + random() % (datagram.size() - 20)] ^= static_cast<std::byte>(1 + random() % 255);
    const auto outcome = binding_.handle(datagram, ipv4_, now_);
    EXPECT_FALSE(outcome && outcome->role);
  }
}

TEST_F(RelayBindingTest, AnswersNoRequestThatIsShorterThanItsAnswer) {
  const auto bare = request(PairRole::listener, {}, 0);
  const auto outcome = binding_.handle(bare, ipv6_, now_);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->answer.empty() || outcome->answer.size() <= bare.size());
}

TEST_F(RelayBindingTest, KeepsATokenToItself) {
  for (const auto type : {StunMessage::Type::indication, StunMessage::Type::success, StunMessage::Type::error}) {
    StunMessage message{.type = type};
    message.username = meeting::username_of(tokens_[0]);
    message.nonce = nonce_for(ipv4_);
    const auto outcome = binding_.handle(net::encode(message, kRequestBytes), ipv4_, now_);
    ASSERT_TRUE(outcome) << "or it would go to the other end";
    EXPECT_TRUE(outcome->answer.empty());
    EXPECT_EQ(outcome->role, std::nullopt);
  }
}

}  // namespace
}  // namespace udtcat::meet
