// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peers_file.hpp"

#include <chrono>
#include <tuple>

#include <gmock/gmock.h>

#include "lib/core/shared_rate.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::tool {
namespace {

using testing::HasSubstr;

class PeersFileTest : public testing::Test {
 protected:
  void write(const std::string& text, unsigned mode = 0600) const { folder_.write("peers", text, mode); }
  [[nodiscard]] std::shared_ptr<PeersFile> load() const { return PeersFile::load(path_).value(); }

  const test::TempDir folder_;
  const std::string path_ = (folder_ / "peers").string();
  const PublicKey alice_ = KeyPair::generate()->public_key();
  const std::string line_ = "alice " + alice_.to_string();
};

TEST_F(PeersFileTest, RecognisesThePeersOfItsLines) {
  write(line_ + " pipe\n");
  EXPECT_EQ(load()->recognise(alice_, "pipe"), "alice");
}

TEST_F(PeersFileTest, SaysWhyAPeerIsNotAllowedAnotherPurpose) {
  write("\n" + line_ + " pipe,rsh\n");
  const auto refused = load()->recognise(alice_, "forward");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::parameters_refused);
  EXPECT_EQ(refused.error().message(), "the key of alice is not for forward: " + path_ + ":2 says pipe,rsh");
}

TEST_F(PeersFileTest, NamesServicesThatDoNotExist) {
  write("# who may\n" + line_ + " to=db,wbe\n");
  EXPECT_THAT(load()->unknown_services({"db", "web"}),
              testing::ElementsAre(path_ + ":2: to=wbe of alice: there is no such service here; did you mean web?"));
  EXPECT_THAT(load()->unknown_services({"db", "wbe"}), testing::IsEmpty());
  write(line_ + " pipe to=wbe\n");
  EXPECT_THAT(load()->unknown_services({"web"}), testing::IsEmpty()) << "a forward is not for alice";
}

TEST_F(PeersFileTest, RecognisesNobodyElse) {
  write(line_);
  const PublicKey mallory = KeyPair::generate()->public_key();
  const auto refused = load()->recognise(mallory, "pipe");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::authentication_failed);
  EXPECT_THAT(refused.error().message(), HasSubstr(mallory.to_string()));
}

TEST_F(PeersFileTest, SaysThatAKnownHostsLineAdmitsNobody) {
  write("far:9000 " + alice_.to_string() + "\n");
  const auto refused = load()->recognise(alice_, "pipe");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr(path_ + ":1 is for dialling far:9000, and lets nobody in"));
}

/// Proves: threat-model.list-own
TEST_F(PeersFileTest, IsNotReadWhereOthersCanWriteToIt) {
  write(line_, 0620);
  const auto refused = PeersFile::load(path_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("chmod go-w"));
}

TEST_F(PeersFileTest, EndsTheSessionsOfPeersThatANewListLacks) {
  write(line_);
  const auto peers = load();
  std::string why;
  const KnownPeers::Watch watch(peers, alice_, "pipe", [&](const Error& error) { why = error.message(); });
  EXPECT_EQ(peers->reload(), "read " + path_ + " again: 1 peer");
  EXPECT_EQ(why, "");
  write(line_ + " rsh");
  ASSERT_TRUE(peers->reload());
  EXPECT_THAT(why, HasSubstr("the key of alice is not for pipe"));
}

TEST_F(PeersFileTest, NamesARemovedPeerAndTheKeyOfAStranger) {
  write(line_);
  const auto peers = load();
  std::string why;
  const KnownPeers::Watch watch(peers, alice_, "pipe", [&](const Error& error) { why = error.message(); });
  write("alice " + KeyPair::generate()->public_key().to_string());
  ASSERT_TRUE(peers->reload());
  EXPECT_EQ(why, "alice has another key in " + path_);
  write(line_);
  ASSERT_TRUE(peers->reload());
  write("");
  ASSERT_TRUE(peers->reload());
  EXPECT_EQ(why, "alice was taken off " + path_);
  const auto stranger = peers->recognise(alice_, "pipe");
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().message(), "admit the key " + alice_.to_string() + ": " + path_ + " has no line with it");
}

/// With a clock that the test sets.
class PeersFileDates : public PeersFileTest {
 protected:
  void at(const char* date) { now_ = parse_date(date).value(); }
  [[nodiscard]] std::shared_ptr<PeersFile> load() {
    return PeersFile::load(path_, [this] { return now_; }).value();
  }
  SystemTime now_ = parse_date("2026-12-15").value();
};

TEST_F(PeersFileDates, RefuseAKeyBeforeTheFirstAndAfterTheLast) {
  write(line_ + " valid-after=2026-12-01 valid-before=2027-01-01\n");
  const auto peers = load();
  EXPECT_EQ(peers->recognise(alice_, "pipe"), "alice");
  at("2026-11-30T23:59:59");
  EXPECT_EQ(peers->recognise(alice_, "pipe").error().message(),
            "admit the key of alice: it is valid from 2026-12-01, as " + path_ + ":1 says");
  at("2027-01-01");
  const auto late = peers->recognise(alice_, "pipe");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::parameters_refused);
  EXPECT_THAT(late.error().message(), HasSubstr("admit the key of alice: it was valid until 2027-01-01, as "));
}

TEST_F(PeersFileDates, EndTheSessionsOfTheKeyAloneWhoseLastHasPassed) {
  const PublicKey next = KeyPair::generate()->public_key();
  write(line_ + " valid-before=2027-01-01\nalice " + next.to_string() + " valid-after=2026-12-01\n");
  const auto peers = load();
  std::string why, why_next;
  const KnownPeers::Watch watch(peers, alice_, "pipe", [&](const Error& error) { why = error.message(); });
  const KnownPeers::Watch watch_next(peers, next, "pipe", [&](const Error& error) { why_next = error.message(); });
  EXPECT_EQ(peers->look_at_dates(), PeersFile::kLookAtClock);
  EXPECT_EQ(why, "");
  at("2026-12-31T23:59:59");
  EXPECT_EQ(peers->look_at_dates(), std::chrono::seconds(1));
  at("2027-01-01");
  EXPECT_EQ(peers->look_at_dates(), PeersFile::kLookAtClock);
  EXPECT_THAT(why, HasSubstr("admit the key of alice: it was valid until 2027-01-01, as "));
  EXPECT_EQ(why_next, "");
}

TEST_F(PeersFileDates, FollowAClockThatJumpsEitherWay) {
  write(line_ + " valid-before=2027-01-01\n");
  const auto peers = load();
  int ended = 0;
  const KnownPeers::Watch watch(peers, alice_, "pipe", [&](const Error&) { ++ended; });
  at("2028-06-01");
  EXPECT_EQ(peers->look_at_dates(), PeersFile::kLookAtClock) << "it may be set back";
  EXPECT_EQ(ended, 1);
  at("2026-12-02");
  EXPECT_TRUE(peers->recognise(alice_, "pipe"));
  EXPECT_EQ(peers->look_at_dates(), PeersFile::kLookAtClock);
  EXPECT_EQ(ended, 1);
}

TEST_F(PeersFileDates, AreNotLookedAtWhereThereAreNone) {
  write(line_);
  const auto peers = load();
  EXPECT_EQ(peers->look_at_dates(), std::nullopt);
  write(line_ + " valid-before=2027-01-01");
  ASSERT_TRUE(peers->reload());
  EXPECT_EQ(peers->look_at_dates(), PeersFile::kLookAtClock);
}

TEST_F(PeersFileTest, HasARateForAllSessionsOfAPeer) {
  const PublicKey next = KeyPair::generate()->public_key(), bob = KeyPair::generate()->public_key();
  write(line_ + " rate=8M\nalice " + next.to_string() + " rate=8M\nbob " + bob.to_string());
  const auto peers = load();
  const auto rates = peers->rates_of({"alice", alice_});
  ASSERT_TRUE(rates);
  EXPECT_EQ(peers->rates_of({"alice", next}), rates) << "by either key";
  EXPECT_EQ(peers->rates_of({"bob", bob}), nullptr);
  const std::size_t before = rates->received.piece_bytes();
  write(line_ + " rate=16M\n");
  ASSERT_TRUE(peers->reload());
  EXPECT_EQ(rates->received.piece_bytes(), 2 * before) << "those under way follow";
}

TEST_F(PeersFileTest, RemembersWhatAPeerHasMovedThoughItsStreamsAreOver) {
  write(line_ + " rate=8M\n");
  const auto peers = load();
  const core::SharedRate::TimePoint now{std::chrono::hours(1)};
  std::ignore = peers->rates_of({"alice", alice_})->sent.pass(10'000'000, now);
  EXPECT_GT(peers->rates_of({"alice", alice_})->sent.pass(1, now), now + std::chrono::seconds(9));
}

TEST_F(PeersFileTest, HasAPlaceForEachPeer) {
  write(line_ + " into=alice limit=1GB\n");
  const auto place = load()->place_of(alice_);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->name, "alice");
  EXPECT_EQ(place->directory, "alice");
  EXPECT_EQ(place->limit_bytes, 1'000'000'000U);
  EXPECT_EQ(load()->place_of(KeyPair::generate()->public_key()), std::nullopt);
}

TEST_F(PeersFileTest, StaysAsItIsWhereTheNewListCannotBeUsed) {
  write(line_);
  const auto peers = load();
  const KnownPeers::Watch watch(peers, alice_, "pipe", [](const Error& error) { FAIL() << error.message(); });
  const std::string bob = "bob " + KeyPair::generate()->public_key().to_string();
  for (const std::string& bad : {std::string("alice"), line_ + " nothing", line_ + "\n" + line_,
                                 line_ + " into=backup/alice\n" + bob + " into=backup"}) {
    write(bad);
    EXPECT_FALSE(peers->reload());
    EXPECT_TRUE(peers->recognise(alice_, "pipe")) << bad;
  }
}

}  // namespace
}  // namespace udtcat::tool
