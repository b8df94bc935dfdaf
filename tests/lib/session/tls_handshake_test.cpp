// SPDX-License-Identifier: Apache-2.0
#include "lib/session/tls_handshake.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "lib/session/tls_pair.hpp"

namespace udtcat::session {
namespace {

using test::Bytes;
using test::End;
using test::key_of;
using test::Pair;
using udtcat::test::bytes_of;
using udtcat::test::from_hex;

constexpr std::byte kSharedKey{0};
constexpr std::byte kWrong{1};

const Bytes kEarly = bytes_of("an offer");

Pair right_pair() { return {key_of(kSharedKey), key_of(kSharedKey)}; }
Pair early_pair() { return {key_of(kSharedKey), key_of(kSharedKey), kEarly}; }

// However the bytes were changed: nobody is fooled.
void expect_no_harm(const Pair& pair) {
  if (pair.connector.tls.done() && pair.listener.tls.done()) {
    EXPECT_EQ(pair.connector.exported(), pair.listener.exported());
  }
  for (const End* end : {&pair.connector, &pair.listener})
    if (end->error) {
      EXPECT_TRUE(end->code() == Errc::protocol_violated || end->code() == Errc::authentication_failed)
          << end->error->message();
    }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

std::array<std::size_t, 3> flight_bytes(Pair pair) {
  std::array<std::size_t, 3> sizes{};
  pair.run([&](int flight, Bytes& bytes) { sizes.at(static_cast<std::size_t>(flight)) = bytes.size(); });
  return sizes;
}

TEST(TlsHandshake, SucceedsWithTheSameKey) {
  Pair pair = right_pair();
  pair.run();
  ASSERT_TRUE(pair.connector.tls.done() && pair.listener.tls.done());
  EXPECT_EQ(pair.connector.exported(), pair.listener.exported());
}

TEST(TlsHandshake, ExportsAnotherSecretEachTime) {
  Pair one = right_pair();
  Pair two = right_pair();
  one.run();
  two.run();
  EXPECT_NE(one.connector.exported(), two.connector.exported());
}

TEST(TlsHandshake, ExportsAnotherSecretForAnotherContext) {
  Pair pair = right_pair();
  pair.run();
  const Bytes one = bytes_of("one");
  EXPECT_EQ(pair.connector.exported(one), pair.listener.exported(one));
  EXPECT_NE(pair.connector.exported(one), pair.listener.exported(bytes_of("other")));
  EXPECT_NE(pair.connector.exported(one), pair.listener.exported());
}

TEST(TlsHandshake, TakesThreeFlightsAndNoMore) {
  int flights = 0;
  Pair pair = right_pair();
  pair.run([&](int, const Bytes&) { ++flights; });
  EXPECT_EQ(flights, 3);
}

TEST(TlsHandshake, TellsBothEndsOfAWrongKey) {
  Pair pair(key_of(kSharedKey), key_of(kWrong));
  pair.run();
  EXPECT_FALSE(pair.connector.tls.done());
  EXPECT_FALSE(pair.listener.tls.done());
  EXPECT_EQ(pair.listener.code(), Errc::authentication_failed);
  EXPECT_EQ(pair.connector.code(), Errc::authentication_failed);
}

TEST(TlsHandshake, CarriesApplicationDataBothWays) {
  Pair pair = right_pair();
  pair.run();
  ASSERT_TRUE(pair.connector.tls.write(bytes_of("offer")));
  ASSERT_TRUE(pair.listener.tls.write(bytes_of("answer")));
  pair.run();
  EXPECT_EQ(pair.listener.tls.take_input(), bytes_of("offer"));
  EXPECT_EQ(pair.connector.tls.take_input(), bytes_of("answer"));
  EXPECT_TRUE(pair.connector.tls.take_input().empty());
}

// The listener has not seen the connector's Finished when the offer behind it arrives in the same flight.
TEST(TlsHandshake, TakesAnOfferThatFollowsFinishedAtOnce) {
  Pair pair = right_pair();
  pair.listener.receive(pair.connector.tls.take_output());
  pair.connector.receive(pair.listener.tls.take_output());
  ASSERT_TRUE(pair.connector.tls.done());
  ASSERT_TRUE(pair.connector.tls.write(bytes_of("offer")));
  pair.listener.receive(pair.connector.tls.take_output());
  EXPECT_TRUE(pair.listener.tls.done());
  EXPECT_EQ(pair.listener.tls.take_input(), bytes_of("offer"));
}

TEST(TlsHandshake, CarriesAnOfferAndItsAnswerInOneRoundTrip) {
  Pair pair = early_pair();
  pair.listener.receive(pair.connector.tls.take_output());
  EXPECT_EQ(pair.listener.tls.take_input(), kEarly);
  EXPECT_FALSE(pair.listener.tls.done()) << "anybody could have recorded that";
  ASSERT_TRUE(pair.listener.tls.write(bytes_of("an answer")));
  pair.connector.receive(pair.listener.tls.take_output());
  EXPECT_TRUE(pair.connector.tls.done());
  EXPECT_TRUE(pair.connector.tls.early_data_taken());
  EXPECT_EQ(pair.connector.tls.take_input(), bytes_of("an answer"));
  pair.listener.receive(pair.connector.tls.take_output());
  EXPECT_TRUE(pair.listener.tls.done());
  EXPECT_EQ(pair.connector.exported(), pair.listener.exported());
}

/// Proves: handshake.nothing-parsed-before, threat-model.stranger-parsed
TEST(TlsHandshake, GivesNoEarlyDataOfAWrongKey) {
  Pair pair{key_of(kWrong), key_of(kSharedKey), kEarly};
  pair.run();
  EXPECT_EQ(pair.listener.code(), Errc::authentication_failed);
  EXPECT_EQ(pair.connector.code(), Errc::authentication_failed);
  EXPECT_TRUE(pair.listener.tls.take_input().empty());
}

/// Proves: handshake.early-data-limit
TEST(TlsHandshake, LimitsEarlyData) {
  const Bytes most(1024);
  EXPECT_EQ(End(Role::connector, key_of(kSharedKey), most).code(), std::nullopt);
  const Bytes more(1025);
  EXPECT_EQ(End(Role::connector, key_of(kSharedKey), more).code(), Errc::cipher_failed);
}

TEST(TlsHandshake, IsNotDoneByAReplayedFirstFlight) {
  Pair pair = early_pair();
  const Bytes recorded = pair.connector.tls.take_output();
  for (int times = 0; times < 2; ++times) {
    End listener(Role::listener, key_of(kSharedKey));
    listener.receive(recorded);
    EXPECT_EQ(listener.tls.take_input(), kEarly);
    EXPECT_FALSE(listener.tls.done());
  }
}

/// Proves: handshake.stranger-one-record
TEST(TlsHandshake, TakesExactlyOneRecord) {
  const Bytes hello = right_pair().connector.tls.take_output();
  Bytes more = hello;
  more.push_back(std::byte{1});
  const Bytes less(hello.begin(), hello.end() - 1);
  for (const Bytes& bytes : {Bytes{}, from_hex("160301"), less, more}) {
    End listener(Role::listener, key_of(kSharedKey));
    const Status received = listener.tls.receive(bytes);
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, Errc::protocol_violated);
  }
}

TEST(TlsHandshake, KeepsItsFirstError) {
  End listener(Role::listener, key_of(kSharedKey));
  ASSERT_FALSE(listener.tls.receive(from_hex("1603010004 01000000")));
  const Status again = listener.tls.receive(right_pair().connector.tls.take_output());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::protocol_violated);
  EXPECT_FALSE(listener.tls.done());
}

TEST(TlsHandshake, GivesTheAlertAfterAnError) {
  End listener(Role::listener, key_of(kSharedKey));
  ASSERT_FALSE(listener.tls.receive(from_hex("1603010004 01000000")));
  const Bytes alert = listener.tls.take_output();
  ASSERT_EQ(alert.size(), 7U);
  EXPECT_EQ(alert[0], std::byte{21});
}

// A hello without our PSK, as any browser or scanner sends it.
TEST(TlsHandshake, RefusesAPeerWithoutAKey) {
  Bytes hello = right_pair().connector.tls.take_output();
  const Bytes identity = bytes_of("udtcat1");
  const auto at = std::search(hello.begin(), hello.end(), identity.begin(), identity.end());
  ASSERT_NE(at, hello.end());
  *at = std::byte{'X'};
  End listener(Role::listener, key_of(kSharedKey));
  listener.receive(hello);
  EXPECT_EQ(listener.code(), Errc::authentication_failed);
}

TEST(TlsHandshake, RefusesARecordThatThePeerDidNotSeal) {
  Pair pair = right_pair();
  pair.run();
  pair.connector.receive(from_hex("1703030014 0000000000000000000000000000000000000000"));
  EXPECT_EQ(pair.connector.code(), Errc::protocol_violated);
  EXPECT_FALSE(pair.connector.tls.done());
}

void expect_no_harm_by_truncation(Pair (*make_pair)()) {
  const auto sizes = flight_bytes(make_pair());
  for (int flight = 0; flight < 3; ++flight)
    for (std::size_t length = 0; length < sizes.at(static_cast<std::size_t>(flight)); ++length) {
      Pair pair = make_pair();
      pair.run([&](int current, Bytes& bytes) {
        if (current == flight) bytes.resize(length);
      });
      EXPECT_FALSE(pair.listener.tls.done());
      expect_no_harm(pair);
    }
}

TEST(TlsHandshake, FailsAtEveryTruncation) {
  expect_no_harm_by_truncation(right_pair);
  expect_no_harm_by_truncation(early_pair);
}

// Whole records whose bodies are shorter than they were, with lengths that say so.
TEST(TlsHandshake, FailsOnShortenedRecords) {
  const std::size_t hello_bytes = flight_bytes(right_pair())[0];
  for (std::size_t length = kTlsRecordHeaderBytes + 1; length < hello_bytes; ++length) {
    Pair pair = right_pair();
    pair.run([&](int flight, Bytes& bytes) {
      if (flight != 0) return;
      bytes.resize(length);
      const std::size_t body = length - kTlsRecordHeaderBytes;
      bytes[3] = static_cast<std::byte>(body >> 8);
      bytes[4] = static_cast<std::byte>(body);
    });
    EXPECT_FALSE(pair.listener.tls.done());
    expect_no_harm(pair);
  }
}

void expect_no_harm_by_flipped_bytes(Pair (*make_pair)()) {
  const auto sizes = flight_bytes(make_pair());
  for (int flight = 0; flight < 3; ++flight)
    for (std::size_t at = 0; at < sizes.at(static_cast<std::size_t>(flight)); ++at) {
      Pair pair = make_pair();
      pair.run([&](int current, Bytes& bytes) {
        if (current == flight) bytes[at] ^= std::byte{0x01};
      });
      SCOPED_TRACE("flight " + std::to_string(flight) + " byte " + std::to_string(at));
      expect_no_harm(pair);
      const Bytes early = pair.listener.tls.take_input();
      EXPECT_TRUE(early.empty() || early == kEarly);
    }
}

TEST(TlsHandshake, FailsWithAnyFlippedByte) {
  expect_no_harm_by_flipped_bytes(right_pair);
  expect_no_harm_by_flipped_bytes(early_pair);
}

/// Proves: handshake.tls-record-limit, handshake.nothing-parsed-before
TEST(TlsRecord, SaysItsLength) {
  const auto body_bytes = [](const char* header) {
    return tls_record_body_bytes(udtcat::test::array_of<5>(from_hex(header)));
  };
  EXPECT_EQ(body_bytes("1603010200"), 512U);
  EXPECT_EQ(body_bytes("1403030001"), 1U);
  EXPECT_EQ(body_bytes("1703034100"), 16384U + 256);
  for (const char* bad : {"1303030001", "1803030001", "1602030001", "1603030000", "1703034101", "0000000000",
                          "ffffffffff", "4745542020"}) {
    ASSERT_FALSE(body_bytes(bad)) << bad;
    EXPECT_EQ(body_bytes(bad).error().code, Errc::protocol_violated) << bad;
  }
}

TEST(TlsRecord, KnowsAPeerAtClear) {
  const auto body_bytes = tls_record_body_bytes(udtcat::test::array_of<5>(from_hex("5544544301")));
  ASSERT_FALSE(body_bytes);
  EXPECT_EQ(body_bytes.error().code, Errc::parameters_refused);
}

}  // namespace
}  // namespace udtcat::session
