// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/binding_client.hpp"

#include <gmock/gmock.h>

#include "support/run_until.hpp"

namespace udtcat::meeting {
namespace {

Endpoint address(const std::string& host, std::uint16_t port) {
  return resolve({host, port}, AddressFamily::any)->front();
}

class Binding : public testing::Test {
 protected:
  void answer(const net::StunMessage& message) { client.handle(server, net::encode(message)); }
  [[nodiscard]] net::StunMessage success() const {
    return {.type = net::StunMessage::Type::success, .transaction = sent.back().transaction, .mapped_address = seen};
  }

  const Endpoint server = address("192.0.2.1", 3478);
  const Endpoint seen = address("198.51.100.1", 40'000);
  boost::asio::io_context io;
  std::vector<net::StunMessage> sent;
  std::vector<std::size_t> bytes;
  BindingClient client{io, [this](const Endpoint& /*to*/, const std::vector<std::byte>& message) {
                         sent.push_back(*net::decode_stun(message));
                         bytes.push_back(message.size());
                       }};
  std::optional<std::optional<Endpoint>> answered;
  const BindingClient::Handler handler = [this](const std::optional<Endpoint>& mapped) { answered = mapped; };
};

TEST_F(Binding, AsksInAsManyBytesAsTheAnswerHasAtMost) {
  client.ask(server, std::nullopt, handler);
  EXPECT_THAT(bytes, testing::ElementsAre(96));
  EXPECT_EQ(sent.front().transaction[4], std::byte{0}) << "there others have the number of a connection";
  answer(success());
  ASSERT_TRUE(test::run_until(io, [this] { return answered.has_value(); }));
  EXPECT_EQ(*answered, seen);
}

TEST_F(Binding, GivesTheNonceThatAServerWants) {
  client.ask(server, "user", handler);
  net::StunMessage stale{.type = net::StunMessage::Type::error, .transaction = sent.back().transaction};
  stale.error = {net::StunMessage::kStaleNonce, "Stale Nonce"};
  stale.nonce = "nonce";
  answer(stale);
  ASSERT_EQ(sent.size(), 2);
  EXPECT_EQ(sent.back().nonce, "nonce");
  EXPECT_EQ(sent.back().username, "user");
  EXPECT_NE(sent.back().transaction, sent.front().transaction);
  answer(success());
  ASSERT_TRUE(test::run_until(io, [this] { return answered.has_value(); }));
  EXPECT_EQ(*answered, seen);
}

TEST_F(Binding, GivesUpWhereNoNonceIsGoodEnough) {
  client.ask(server, std::nullopt, handler);
  for (int times = 0; times < 4; ++times) {
    net::StunMessage stale{.type = net::StunMessage::Type::error, .transaction = sent.back().transaction};
    stale.error = {net::StunMessage::kStaleNonce, "Stale Nonce"};
    stale.nonce = "nonce";
    answer(stale);
  }
  ASSERT_TRUE(test::run_until(io, [this] { return answered.has_value(); }));
  EXPECT_EQ(*answered, std::nullopt);
}

TEST_F(Binding, AsksAgainAndGivesUp) {
  client.ask(server, std::nullopt, handler);
  ASSERT_TRUE(test::run_until(io, [this] { return answered.has_value(); }));
  EXPECT_EQ(*answered, std::nullopt);
  EXPECT_EQ(sent.size(), 4);
}

TEST_F(Binding, BelievesNobodyElse) {
  client.ask(server, std::nullopt, handler);
  client.handle(address("192.0.2.2", 3478), net::encode(success()));
  auto other = success();
  other.transaction.front() ^= std::byte{1};
  answer(other);
  io.poll();
  EXPECT_FALSE(answered);
}

TEST_F(Binding, IsMadeAnewAtOnceWhereItIsTold) {
  bool is_bound = false;
  KeptBinding kept(io, client, server, "user", [&] { is_bound = true; });
  kept.bind_again();
  EXPECT_EQ(sent.size(), 1U) << "it asks already";
  answer(success());
  ASSERT_TRUE(test::run_until(io, [&] { return is_bound; }));
  kept.bind_again();
  EXPECT_EQ(sent.size(), 2U);
  EXPECT_FALSE(kept.is_over());
}

TEST_F(Binding, IsKept) {
  bool is_bound = false;
  const KeptBinding kept(io, client, server, "user", [&] { is_bound = true; });
  answer(success());
  ASSERT_TRUE(test::run_until(io, [&] { return is_bound; }));
}

/// Proves: threat-model.stolen-binding
TEST_F(Binding, SlowIsMadeAnewEveryTenSeconds) {
  const KeptBinding kept(io, client, server, "user", [] {});
  const auto begin = std::chrono::steady_clock::now();
  answer(success());
  ASSERT_TRUE(test::run_until(io, [&] { return sent.size() > 1; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << "on a busy host, too";
}

}  // namespace
}  // namespace udtcat::meeting
