// SPDX-License-Identifier: Apache-2.0
#include <udtcat/credentials.hpp>

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat {
namespace {

class ListedPeers final : public KnownPeers {
 public:
  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view) const override {
    if (listed.contains(key)) return "listed";
    return fail(Errc::authentication_failed, "recognise", "not listed");
  }
  std::set<PublicKey> listed;
};

PublicKey new_key() { return KeyPair::generate()->public_key(); }

TEST(KnownPeers, EndSessionsOfPeersThatAreNotKnownAnyMore) {
  const auto peers = std::make_shared<ListedPeers>();
  const PublicKey stays = new_key(), goes = new_key();
  peers->listed = {stays, goes};
  std::vector<std::string> broken;
  const KnownPeers::Watch one(peers, stays, "pipe", [&](const Error&) { broken.emplace_back("stays"); });
  const KnownPeers::Watch other(peers, goes, "pipe", [&](const Error& why) { broken.push_back(why.cause); });
  peers->recheck();
  EXPECT_TRUE(broken.empty());
  peers->listed = {stays};
  peers->recheck();
  EXPECT_EQ(broken, std::vector<std::string>{"not listed"});
}

TEST(KnownPeers, ForgetASessionThatIsOver) {
  const auto peers = std::make_shared<ListedPeers>();
  bool called = false;
  {
    const KnownPeers::Watch over(peers, new_key(), "pipe", [&](const Error&) { called = true; });
  }
  peers->recheck();
  EXPECT_FALSE(called);
}

TEST(KnownPeers, OfOneNameTheExpectedKeyAndTheOther) {
  const PublicKey meant = new_key(), met = new_key();
  const auto peers = one_known_peer({"db", meant});
  EXPECT_EQ(peers->recognise(meant, "rsh").value(), "db");
  const auto stranger = peers->recognise(met, "rsh");
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, Errc::authentication_failed);
  EXPECT_NE(stranger.error().cause.find(meant.to_string()), std::string::npos);
  EXPECT_NE(stranger.error().cause.find(met.to_string()), std::string::npos);
}

TEST(Credentials, AreOfEitherKindAndSoIsTheirCopy) {
  const Credentials shared = Key::generate().value();
  EXPECT_EQ(*shared.duplicate().shared(), *shared.shared());
  EXPECT_EQ(shared.pair(), nullptr);
  const auto own = std::make_shared<const KeyPair>(KeyPair::generate().value());
  const Credentials pair = PairCredentials{own, one_known_peer({"db", new_key()})};
  EXPECT_EQ(pair.duplicate().pair()->own, own);
  EXPECT_EQ(pair.shared(), nullptr);
}

}  // namespace
}  // namespace udtcat
