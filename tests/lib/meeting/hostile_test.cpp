// SPDX-License-Identifier: Apache-2.0
/// src/lib/meeting: places that lie, and peers that name a third party's addresses as theirs. Real sessions.
#include <list>

#include <gmock/gmock.h>
#include <boost/asio/ip/tcp.hpp>

#include "lib/crypto/secret_bytes.hpp"
#include "lib/meeting/candidates.hpp"
#include "lib/meeting/check_sender.hpp"
#include "lib/meeting/counting_host.hpp"
#include "lib/meeting/scripted_place.hpp"
#include "support/run_until.hpp"

namespace udtcat::meeting {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class HostilePlace : public testing::Test {
 protected:
  void listen_with(const Key& with) {
    const std::size_t before = place.registrations;
    ListenRequest request;
    request.locals = {net::loopback(AddressFamily::ipv4)};
    request.credentials = with.duplicate();
    request.session.application = "test";
    request.via = place.place();
    listeners.push_back(std::move(*udtcat::listen(
        io, std::move(request), [this](std::unique_ptr<Connection> made) { served.push_back(std::move(made)); },
        [](const Endpoint&, const Error&) {})));
    ASSERT_TRUE(test::run_until(io, [&] { return place.registrations > before; }));
  }
  Result<std::unique_ptr<Connection>> dial_with(const Key& with, std::chrono::milliseconds timeout = 10s) {
    DialRequest request;
    request.credentials = with.duplicate();
    request.session.application = "test";
    request.timeout = timeout;
    request.via = place.place();
    std::optional<Result<std::unique_ptr<Connection>>> made;
    const auto dialer = udtcat::dial(io, std::move(request), [&](auto result) { made = std::move(result); });
    EXPECT_TRUE(test::run_until(io, [&] { return made.has_value(); }));
    return std::move(*made);
  }
  void expect_disbelief(const Result<std::unique_ptr<Connection>>& made) {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::authentication_failed) << made.error().message();
    EXPECT_TRUE(served.empty());
  }

  boost::asio::io_context io;
  const Key key = *Key::generate();
  const Key other = *Key::generate();
  ScriptedPlace place{io};
  std::list<std::unique_ptr<Listener>> listeners;
  std::list<std::unique_ptr<Connection>> served;
};

TEST_F(HostilePlace, ThatLeadsToAnotherListenerIsRefusedByIt) {
  listen_with(key);
  listen_with(other);
  place.leads_to = (*own_name(other.duplicate()))->public_key();
  const auto made = dial_with(key);
  expect_disbelief(made);
  EXPECT_THAT(made.error().message(), HasSubstr("the listener refuses"));
}

TEST_F(HostilePlace, ThatAnswersItselfIsNotBelieved) {
  const KeyPair own = *KeyPair::generate();
  const auto name = *own_name(key.duplicate());
  place.answers = [&](std::span<const std::byte> offer) -> std::optional<std::vector<std::byte>> {
    Answer answer;
    std::ranges::copy(offer.first(answer.id.size()), answer.id.begin());
    return sign(answer, own, name->public_key()).value();
  };
  expect_disbelief(dial_with(key));
}

TEST_F(HostilePlace, ThatRepeatsAnAnswerIsNotBelieved) {
  listen_with(key);
  std::optional<std::vector<std::byte>> first;
  place.change_answer = [&](std::span<const std::byte>, std::vector<std::byte>& answer) {
    if (!first) first = answer;
    answer = *first;
  };
  ASSERT_TRUE(dial_with(key));
  ASSERT_TRUE(test::run_until(io, [&] { return served.size() == 1; }));
  served.clear();
  expect_disbelief(dial_with(key));
}

/// Proves: threat-model.repeated-offer
TEST_F(HostilePlace, ThatRepeatsAnOfferIsRefused) {
  listen_with(key);
  std::vector<std::byte> seen;
  place.answers = [&](std::span<const std::byte> offer) -> std::optional<std::vector<std::byte>> {
    seen.assign(offer.begin(), offer.end());
    return std::nullopt;
  };
  ASSERT_TRUE(dial_with(key));
  const PublicKey name = (*own_name(key.duplicate()))->public_key();
  for (int times = 0; times < 5; ++times) place.offer(name, seen);
  EXPECT_TRUE(test::run_until(io, [&] { return place.refusals_of_listeners == 5; }));
  EXPECT_EQ(place.answers_of_listeners, 0U);
}

/// Proves: threat-model.repeated-offer
TEST_F(HostilePlace, AndAPeerThatLiesHaveAListenerSendFewChecksToAThirdParty) {
  listen_with(key);
  const auto name = *own_name(key.duplicate());
  CountingHost victim(io, Candidate::kMaxCount);
  for (int offers = 0; offers < 20; ++offers) {
    Offer offer{.application = "test", .candidates = victim.candidates(Candidate::Kind::host)};
    ASSERT_TRUE(crypto::randomise(offer.id));
    place.offer(name->public_key(), sign(offer, *name, name->public_key()).value());
  }
  ASSERT_TRUE(test::run_until(io, [&] { return place.answers_of_listeners == 20; }));
  test::run_for(io, 4s);
  EXPECT_GT(victim.datagrams(), 0U);
  EXPECT_LE(victim.most_at_one_port(), CheckQuota::kChecksAMinute);
  EXPECT_LE(victim.datagrams(), CheckQuota::kChecksAMinuteOfHost);
}

/// Connections that come to a place by TCP.
class ComingByTcp {
 public:
  ComingByTcp(boost::asio::io_context& io, const HostPort& at)
      : acceptor_(io, {boost::asio::ip::address_v4::loopback(), at.port}) {
    accept();
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, const boost::asio::ip::tcp::socket&) {
      if (error) return;
      ++count_;
      accept();
    });
  }

  boost::asio::ip::tcp::acceptor acceptor_;
  std::size_t count_ = 0;
};

/// Proves: threat-model.place-connects
TEST_F(HostilePlace, HasAListenerConnectToItFourTimesASecondAtMost) {
  listen_with(key);
  const auto name = *own_name(key.duplicate());
  const ComingByTcp coming(io, place.place()->at);
  Offer offer;
  offer.application = "test";
  ASSERT_TRUE(crypto::randomise(offer.id));
  place.offer(name->public_key(), sign(offer, *name, name->public_key()).value(), {.by_tcp = true});
  ASSERT_TRUE(test::run_until(io, [&] { return place.answers_of_listeners == 1; }));
  const auto begin = std::chrono::steady_clock::now();
  for (int times = 0; times < 12; ++times) {
    place.connect();
    place.connect();
    test::run_for(io, 100ms + times % 3 * 100ms);
  }
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(coming.count(), 0U);
  EXPECT_LE(coming.count(), 1U + static_cast<std::size_t>(passed / 250ms));
}

TEST_F(HostilePlace, AndAListenerThatLiesHaveAConnectorSendFewPacketsToAThirdParty) {
  const auto name = *own_name(key.duplicate());
  CountingHost victim(io, Candidate::kMaxCount);
  place.answers = [&](std::span<const std::byte> offer) -> std::optional<std::vector<std::byte>> {
    Answer answer{.candidates = victim.candidates(Candidate::Kind::server_reflexive)};
    std::ranges::copy(offer.first(answer.id.size()), answer.id.begin());
    return sign(answer, *name, name->public_key()).value();
  };
  EXPECT_FALSE(dial_with(key, 10s));
  RecordProperty("datagrams", static_cast<int>(victim.datagrams()));
  EXPECT_GT(victim.datagrams(), 0U);
  EXPECT_LE(victim.most_at_one_port(), 11U) << "a check, and two tries of five packets in five seconds";
}

/// Proves: meet.drawn-addresses
TEST_F(HostilePlace, AndAListenerThatLiesHaveAConnectorAskThreePortsAtMostThatItHasNotNamed) {
  const auto name = *own_name(key.duplicate());
  CountingHost named(io, 1);
  CountingHost drawn(io, 6);
  place.answers = [&](std::span<const std::byte> bytes) -> std::optional<std::vector<std::byte>> {
    const auto offered = open_offer(bytes, name->public_key())->offer;
    if (!offered.candidates.empty()) drawn.check_from_each(offered.candidates.front().address.port());
    Answer answer{.candidates = named.candidates(Candidate::Kind::host)};
    answer.id = offered.id;
    return sign(answer, *name, name->public_key()).value();
  };
  EXPECT_FALSE(dial_with(key, 2s));
  EXPECT_EQ(drawn.ports_reached(), 3);
}

TEST_F(HostilePlace, AndAStrangerWhoForgesChecksHaveAConnectorSendNothingToAThirdParty) {
  const auto name = *own_name(key.duplicate());
  CountingHost victim(io, 3);
  std::uint16_t port = 0;
  place.answers = [&](std::span<const std::byte> bytes) -> std::optional<std::vector<std::byte>> {
    const auto offered = open_offer(bytes, name->public_key())->offer;
    if (!offered.candidates.empty()) port = offered.candidates.front().address.port();
    if (port != 0) victim.check(port);
    // TEST-NET-3: nobody is there.
    const auto elsewhere = resolve({"203.0.113.1", 9000}, AddressFamily::ipv4)->front();
    Answer answer{.candidates = {{Candidate::Kind::server_reflexive, elsewhere}}};
    answer.id = offered.id;
    return sign(answer, *name, name->public_key()).value();
  };
  EXPECT_FALSE(dial_with(key, 2s));
  EXPECT_NE(port, 0) << "this host has no address that others can use";
  EXPECT_EQ(victim.datagrams(), 0U);
}

}  // namespace
}  // namespace udtcat::meeting
