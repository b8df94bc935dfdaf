// SPDX-License-Identifier: Apache-2.0
// TLS between key pairs: two machines, and the keys that each wants to meet.
#include <map>

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "lib/session/tls_pair.hpp"

namespace udtcat::session {
namespace {

using test::Bytes;
using test::End;
using test::Pair;
using udtcat::test::bytes_of;

class MetPeers final : public KnownPeers {
 public:
  explicit MetPeers(std::map<PublicKey, std::string> applications) : applications_(std::move(applications)) {}
  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view application) const override {
    const auto found = applications_.find(key);
    if (found == applications_.end()) return fail(Errc::authentication_failed, "recognise", "nobody");
    if (found->second != application) return fail(Errc::parameters_refused, "recognise", "not for that");
    return "a friend";
  }

 private:
  const std::map<PublicKey, std::string> applications_;
};

/// Three ends with a key pair each: the connector, the listener, and another.
struct KeyPairEnds {
  static std::shared_ptr<const KeyPair> make() { return std::make_shared<const KeyPair>(KeyPair::generate().value()); }
  static Credentials meets(const std::shared_ptr<const KeyPair>& own, const std::shared_ptr<const KeyPair>& peer,
                           const std::string& application = "pipe") {
    return PairCredentials{
        own, std::make_shared<MetPeers>(std::map<PublicKey, std::string>{{peer->public_key(), application}})};
  }
  const std::shared_ptr<const KeyPair> connector = make();
  const std::shared_ptr<const KeyPair> listener = make();
  const std::shared_ptr<const KeyPair> other = make();
};

const KeyPairEnds kEnds;

Pair paired_ends() {
  return {KeyPairEnds::meets(kEnds.connector, kEnds.listener), KeyPairEnds::meets(kEnds.listener, kEnds.connector)};
}

void expect_refusal(Pair pair, Errc connector, Errc listener) {
  pair.run();
  // A connector is done before the listener has seen its key: what it says next is answered by the alert.
  EXPECT_FALSE(pair.listener.tls.done());
  EXPECT_EQ(pair.connector.code(), connector);
  EXPECT_EQ(pair.listener.code(), listener);
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST(KeyPairs, ProveThemselvesToEachOther) {
  Pair pair = paired_ends();
  pair.run();
  ASSERT_TRUE(pair.connector.tls.done() && pair.listener.tls.done());
  EXPECT_EQ(pair.connector.exported(), pair.listener.exported());
  EXPECT_EQ(pair.connector.tls.peer()->key, kEnds.listener->public_key());
  EXPECT_EQ(pair.listener.tls.peer()->key, kEnds.connector->public_key());
  EXPECT_EQ(pair.listener.tls.peer()->name, "a friend");
  EXPECT_FALSE(pair.connector.tls.early_data_taken());
}

TEST(KeyPairs, CarryAnOfferBehindFinishedAndItsAnswer) {
  Pair pair = paired_ends();
  pair.listener.receive(pair.connector.tls.take_output());
  pair.connector.receive(pair.listener.tls.take_output());
  ASSERT_TRUE(pair.connector.tls.write(bytes_of("offer")));
  pair.listener.receive(pair.connector.tls.take_output());
  ASSERT_TRUE(pair.listener.tls.done());
  EXPECT_EQ(pair.listener.tls.take_input(), bytes_of("offer"));
  ASSERT_TRUE(pair.listener.tls.write(bytes_of("answer")));
  pair.connector.receive(pair.listener.tls.take_output());
  EXPECT_EQ(pair.connector.tls.take_input(), bytes_of("answer"));
}

TEST(KeyPairs, TellAConnectorThatTheListenerDoesNotKnowIt) {
  Pair pair(KeyPairEnds::meets(kEnds.other, kEnds.listener), KeyPairEnds::meets(kEnds.listener, kEnds.connector));
  pair.run();
  ASSERT_EQ(pair.connector.code(), Errc::authentication_failed);
  EXPECT_NE(pair.connector.error->cause.find(kEnds.other->public_key().to_string()), std::string::npos);
  EXPECT_EQ(pair.listener.error->cause, "nobody");
  EXPECT_FALSE(pair.listener.tls.done());
}

TEST(KeyPairs, TellAConnectorThatItsApplicationIsNotAllowed) {
  Pair pair(KeyPairEnds::meets(kEnds.connector, kEnds.listener),
            KeyPairEnds::meets(kEnds.listener, kEnds.connector, "forward"));
  pair.run();
  EXPECT_EQ(pair.listener.code(), Errc::parameters_refused);
  ASSERT_EQ(pair.connector.code(), Errc::authentication_failed);
  EXPECT_NE(pair.connector.error->cause.find("not for pipe"), std::string::npos);
}

TEST(KeyPairs, ShowAnotherListenerNothingOfTheConnector) {
  Pair pair(KeyPairEnds::meets(kEnds.connector, kEnds.other), KeyPairEnds::meets(kEnds.listener, kEnds.connector));
  std::size_t last = 0;
  pair.run([&](int flight, const Bytes& bytes) {
    if (flight == 2) last = bytes.size();
  });
  EXPECT_EQ(pair.connector.error->cause, "nobody");
  EXPECT_EQ(pair.listener.code(), Errc::authentication_failed);
  EXPECT_LT(last, 100U) << "an alert, and no certificate";
}

TEST(KeyPairs, AndASharedKeyDoNotMeet) {
  const Credentials shared = test::key_of(std::byte{0});
  expect_refusal({shared, KeyPairEnds::meets(kEnds.listener, kEnds.connector)}, Errc::authentication_failed,
                 Errc::authentication_failed);
  expect_refusal({KeyPairEnds::meets(kEnds.connector, kEnds.listener), shared}, Errc::authentication_failed,
                 Errc::authentication_failed);
  Pair early(shared, KeyPairEnds::meets(kEnds.listener, kEnds.connector), bytes_of("an offer"));
  early.run();
  EXPECT_EQ(early.connector.code(), Errc::authentication_failed);
  EXPECT_TRUE(early.listener.tls.take_input().empty());
  EXPECT_EQ(early.listener.code(), std::nullopt) << "the alert is sealed as early data, and skipped";
  const Error broken{Errc::connection_broken, "read", "the peer has gone"};
  EXPECT_EQ(early.listener.tls.why_broken(broken).cause,
            "the connector has a shared key, this listener a key pair; both ends need the same kind");
  EXPECT_EQ(early.connector.tls.why_broken(broken).cause, broken.cause);
  Pair pairs = paired_ends();
  pairs.listener.receive(pairs.connector.tls.take_output());
  EXPECT_EQ(pairs.listener.tls.why_broken(broken).cause, broken.cause);
}

std::array<std::size_t, 3> paired_flight_bytes() {
  std::array<std::size_t, 3> sizes{};
  paired_ends().run([&](int flight, const Bytes& bytes) { sizes.at(static_cast<std::size_t>(flight)) = bytes.size(); });
  return sizes;
}

TEST(KeyPairs, FailAtEveryTruncation) {
  const auto sizes = paired_flight_bytes();
  for (int flight = 0; flight < 3; ++flight)
    for (std::size_t length = 0; length < sizes.at(static_cast<std::size_t>(flight)); ++length) {
      Pair pair = paired_ends();
      pair.run([&](int current, Bytes& bytes) {
        if (current == flight) bytes.resize(length);
      });
      EXPECT_FALSE(pair.listener.tls.done()) << flight << " " << length;
    }
}

TEST(KeyPairs, FailWithAnyByteChanged) {
  const auto sizes = paired_flight_bytes();
  for (int flight = 0; flight < 3; ++flight)
    for (std::size_t at = 0; at < sizes.at(static_cast<std::size_t>(flight)); ++at) {
      Pair pair = paired_ends();
      pair.run([&](int current, Bytes& bytes) {
        if (current == flight) bytes[at] ^= std::byte{0x01};
      });
      if (pair.connector.tls.done() && pair.listener.tls.done()) {
        EXPECT_EQ(pair.connector.exported(), pair.listener.exported()) << flight << " " << at;
      }
      EXPECT_EQ(ERR_peek_error(), 0U);
    }
}

}  // namespace
}  // namespace udtcat::session
