// SPDX-License-Identifier: Apache-2.0
/// PinnedPeer of key_pair_lookup.
#include "tool/identity/key_pair_lookup.hpp"

#include <gmock/gmock.h>

#include "support/temp_dir.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {
namespace {

using testing::HasSubstr;

class PinnedPeerTest : public testing::Test {
 protected:
  static PublicKey new_key() { return KeyPair::generate()->public_key(); }
  [[nodiscard]] std::string text() const { return test::read_file(file_); }

  const test::TempDir folder_;
  const std::filesystem::path file_ = folder_ / "udtcat/peers";
  const PublicKey db_ = new_key();
};

TEST_F(PinnedPeerTest, IsKnownByItsLineOnly) {
  PinnedPeer meant(std::vector<Peer>{{.name = "db", .key = db_, .line = 7}}, "peers");
  EXPECT_EQ(meant.recognise(db_, "pipe"), "db");
  const PublicKey other = new_key();
  const auto refused = meant.recognise(other, "pipe");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::authentication_failed);
  for (const std::string& part : {std::string("peers:7"), db_.to_string(), other.to_string()})
    EXPECT_THAT(refused.error().message(), HasSubstr(part));
}

TEST_F(PinnedPeerTest, IsKnownByEachOfItsLinesWithinItsDates) {
  const PublicKey next = new_key(), later = new_key();
  const auto tomorrow = std::chrono::system_clock::now() + std::chrono::hours(24);
  const PinnedPeer meant(std::vector<Peer>{{.name = "db", .key = db_, .valid_before = tomorrow, .line = 7},
                                           {.name = "db", .key = next, .line = 8},
                                           {.name = "db", .key = later, .valid_after = tomorrow, .line = 9}},
                         "peers");
  EXPECT_EQ(meant.recognise(db_, "pipe"), "db");
  EXPECT_EQ(meant.recognise(next, "pipe"), "db");
  const auto early = meant.recognise(later, "pipe");
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message(), HasSubstr("peers:9, and is valid from " + date_text(tomorrow)));
  EXPECT_THAT(meant.recognise(new_key(), "pipe").error().message(), HasSubstr("peers:7 and peers:8 and peers:9"));
}

TEST_F(PinnedPeerTest, IsRecordedOnceASessionStandsAndKnownFromThenOn) {
  PinnedPeer meant("db", file_);
  ASSERT_TRUE(meant.recognise(db_, "pipe"));
  EXPECT_FALSE(std::filesystem::exists(file_));
  ASSERT_TRUE(meant.on_session({"db", db_}));
  EXPECT_EQ(text(), "db " + db_.to_string() + "\n");
  EXPECT_FALSE(meant.recognise(new_key(), "pipe"));
  ASSERT_TRUE(meant.on_session({"db", db_}));
  EXPECT_EQ(text(), "db " + db_.to_string() + "\n") << "once";
}

TEST_F(PinnedPeerTest, IsNotWrittenTwiceWhereAnotherProcessWasFaster) {
  PinnedPeer one("db", file_), other("db", file_);
  ASSERT_TRUE(one.on_session({"db", db_}));
  ASSERT_TRUE(other.on_session({"db", db_}));
  EXPECT_EQ(text(), "db " + db_.to_string() + "\n");
}

TEST_F(PinnedPeerTest, IsRecordedForEachAddressAndKeepsTheFileReadable) {
  for (const char* known_host : {"db:9000", "db:9001", "192.0.2.1:9000"})
    ASSERT_TRUE(PinnedPeer(known_host, file_).on_session({known_host, db_})) << known_host;
  const auto refused = PinnedPeer("other", file_).on_session({"other", db_});
  EXPECT_TRUE(refused) << "a name of its own, once";
  const auto again = PinnedPeer("third", file_).on_session({"third", db_});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), HasSubstr("has it as that of other: --peer other means it"));
  EXPECT_TRUE(read_peers_list(file_.string()));
}

TEST_F(PinnedPeerTest, IsRefusedWhereAnotherProcessRecordedAnotherKey) {
  PinnedPeer one("db", file_), other("db", file_);
  ASSERT_TRUE(one.on_session({"db", db_}));
  const auto refused = other.on_session({"db", new_key()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr(file_.string() + ":1"));
  EXPECT_EQ(text(), "db " + db_.to_string() + "\n");
}

}  // namespace
}  // namespace udtcat::tool
