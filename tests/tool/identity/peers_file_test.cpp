// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peers_file.hpp"

#include <gmock/gmock.h>

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

TEST_F(PeersFileTest, StaysAsItIsWhereTheNewListCannotBeUsed) {
  write(line_);
  const auto peers = load();
  const KnownPeers::Watch watch(peers, alice_, "pipe", [](const Error& error) { FAIL() << error.message(); });
  for (const std::string& bad : {std::string("alice"), line_ + " nothing", line_ + "\n" + line_}) {
    write(bad);
    EXPECT_FALSE(peers->reload());
    EXPECT_TRUE(peers->recognise(alice_, "pipe")) << bad;
  }
}

}  // namespace
}  // namespace udtcat::tool
