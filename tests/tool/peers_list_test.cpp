// SPDX-License-Identifier: Apache-2.0
#include "tool/peers_list.hpp"

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kAliceKey = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";  // docs/spec/handshake.md, "key pair"
const std::string kBobKey = KeyPair::generate()->public_key().to_string();

PeersList list_of(const std::string& text) {
  auto list = PeersList::parse(text, "list");
  EXPECT_TRUE(list) << list.error().message();
  return list.value_or(PeersList());
}

std::string list_error(const std::string& text) {
  const auto list = PeersList::parse(text, "list");
  EXPECT_FALSE(list) << text;
  if (list) return {};
  EXPECT_EQ(list.error().code, Errc::bad_argument);
  return list.error().message();
}

TEST(PeersList, HasAPeerOfEachLine) {
  const auto list =
      list_of("# who may come\n\n  alice " + kAliceKey + "  # behind a line, too\r\nbob\t" + kBobKey + "\n");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.find("alice")->key, PublicKey::parse(kAliceKey));
  EXPECT_EQ(list.find("alice")->line, 3U);
  EXPECT_EQ(list.find(PublicKey::parse(kBobKey).value())->name, "bob");
  EXPECT_EQ(list.find("carol"), nullptr);
  EXPECT_EQ(list.find(KeyPair::generate()->public_key()), nullptr);
}

TEST(PeersList, TakesAKeyAsItStandsInItsFile) {
  EXPECT_EQ(list_of("bob " + kBobKey + " bob@home").size(), 1U);
  EXPECT_THAT(list_of("bob " + kBobKey + " bob@home pipe").find("bob")->purposes, ElementsAre(Purpose::pipe));
}

TEST(PeersList, LimitsAPeerToItsPurposesAndServices) {
  const auto list = list_of("alice " + kAliceKey + " pipe,gridftp to=db,web\nbob " + kBobKey + " to=db\n");
  const Peer& alice = *list.find("alice");
  EXPECT_TRUE(may(alice, Purpose::pipe) && may(alice, Purpose::gridftp) && may(alice, Purpose::driver));
  EXPECT_FALSE(may(alice, Purpose::bench) || may(alice, Purpose::rsh) || may(alice, Purpose::forward) ||
               may(alice, Purpose::gateway) || may(alice, Purpose::trees));
  EXPECT_THAT(alice.services, ElementsAre("db", "web"));
  EXPECT_EQ(purposes_text(alice), "pipe,gridftp");
  EXPECT_TRUE(may(*list.find("bob"), Purpose::rsh));
  EXPECT_EQ(purposes_text(*list.find("bob")), "everything");
  EXPECT_THAT(list_of("alice " + kAliceKey).find("alice")->services, IsEmpty());
}

TEST(PeersList, NamesTheLineOfEveryMistakeAndItsCure) {
  const std::vector<std::pair<std::string, const char*>> mistakes{
      {"alice", "NAME PUBLIC-KEY"},
      {"alice udtcat-ed25519", "udtcat keygen --pair"},
      {"alice " + kAliceKey.substr(1), "43 characters"},
      {"alice " + kAliceKey + " pip", "pipe, forward, rsh, gridftp, gateway, bench, trees"},
      {"alice " + kAliceKey + " pipe,pipe", "twice"},
      {"alice " + kAliceKey + " ,", "no purpose"},
      {"alice " + kAliceKey + " to=", "to=db,web"},
      {"alice " + kAliceKey + " to=db pipe", "\"pipe\" is a word too many"},
      {"alice " + kAliceKey + " alice@home", "\"alice@home\" is no purpose"},
      {std::string(65, 'a') + " " + kAliceKey, "1 to 64"},
      {"al\x80"
       "ce " +
           kAliceKey,
       "printable"},
      {"bob " + kAliceKey, "\"bob\" has a line already, 1"},
      {"alice " + kBobKey, "already, 1, of bob"}};
  for (const auto& [line, says] : mistakes) {
    const std::string error = list_error("bob " + kBobKey + "\n" + line + "\n");
    EXPECT_THAT(error, testing::StartsWith("list:2: ")) << line;
    EXPECT_THAT(error, HasSubstr(says)) << line;
  }
}

TEST(PeersList, IsTotalAtEveryTruncationAndWithEveryByteChanged) {
  const std::string text = "alice udtcat-ed25519 " + kAliceKey + " a@b pipe,rsh to=db # that is all\n";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto cut = PeersList::parse(text.substr(0, at), "list");
    EXPECT_TRUE(!cut || cut->size() <= 1);
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    const auto list = PeersList::parse(changed, "list");
    EXPECT_TRUE(!list || list->size() <= 1);
  }
}

}  // namespace
}  // namespace udtcat::tool
