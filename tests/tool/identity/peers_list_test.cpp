// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peers_list.hpp"

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
  EXPECT_THAT(list_of("bob " + kBobKey + " bob@home pipe").find("bob")->purposes, ElementsAre("pipe"));
}

TEST(PeersList, TakesNoRestrictionForAComment) {
  const auto list = list_of("bob " + kBobKey + " to=web@x\n");
  ASSERT_NE(list.find("bob"), nullptr);
  EXPECT_THAT(list.find("bob")->services, ElementsAre("web@x"));
}

TEST(PeersList, TakesALineOfKeygenByTheNameOfItsComment) {
  const auto list = list_of("udtcat-ed25519 " + kAliceKey + " alice@near pipe\n" + kBobKey + " bob@home\n");
  ASSERT_NE(list.find("alice@near"), nullptr);
  EXPECT_EQ(list.find("alice@near")->key, PublicKey::parse(kAliceKey));
  EXPECT_THAT(list.find("alice@near")->purposes, ElementsAre("pipe"));
  EXPECT_EQ(list.find(PublicKey::parse(kBobKey).value())->name, "bob@home");
}

TEST(PeersList, AdmitsNobodyByAKnownHostsLineOfWhichSeveralMayHaveOneKey) {
  const auto list = list_of("far:9000 " + kBobKey + "\n[2001:db8::1]:9001 " + kBobKey + "\nbob " + kBobKey +
                            " pipe\nfar:1 " + kAliceKey + "\n");
  EXPECT_EQ(list.size(), 1U);
  for (const char* known_host : {"far:9000", "[2001:db8::1]:9001"})
    EXPECT_EQ(list.find(known_host)->key, PublicKey::parse(kBobKey)) << known_host;
  EXPECT_EQ(list.find(PublicKey::parse(kBobKey).value())->name, "bob");
  EXPECT_EQ(list.find(PublicKey::parse(kAliceKey).value()), nullptr);
  EXPECT_EQ(list.known_host_of(PublicKey::parse(kAliceKey).value())->name, "far:1");
  EXPECT_THAT(list_error("far:9000 " + kBobKey + "\nfar:9000 " + kBobKey), HasSubstr("it says what line 1 says"));
}

TEST(PeersList, HasSeveralKeysOfOnePeer) {
  const auto list =
      list_of("alice " + kAliceKey + " pipe,trees into=alice valid-before=2027-01-01\nalice " + kBobKey +
              " into=alice trees,pipe valid-after=2026-12-01\nfar:9000 " + kAliceKey + "\nfar:9000 " + kBobKey + "\n");
  EXPECT_EQ(list.size(), 1U);
  EXPECT_EQ(list.all().size(), 2U);
  EXPECT_EQ(list.find(PublicKey::parse(kBobKey).value())->name, "alice");
  EXPECT_EQ(list.find("alice")->line, 1U);
  ASSERT_EQ(list.lines_of("alice").size(), 2U);
  EXPECT_EQ(list.lines_of("alice").back().key, PublicKey::parse(kBobKey));
  EXPECT_EQ(list.lines_of("far:9000").size(), 2U);
  EXPECT_THAT(list.lines_of("carol"), IsEmpty());
}

TEST(PeersList, SaysTheSameOfAPeerInAllOfItsLines) {
  const std::vector<std::pair<std::string, std::string>> lines{{" pipe", ""},
                                                               {" to=db", " to=web"},
                                                               {" into=a", " into=b"},
                                                               {" into=a limit=1GB", " into=a"},
                                                               {" rate=1M", " rate=2M"}};
  for (const auto& [one, other] : lines)
    EXPECT_THAT(list_error("alice " + kAliceKey + one + "\nalice " + kBobKey + other),
                testing::AllOf(testing::StartsWith("list:2: \"alice\" is the name of line 1 already"),
                               HasSubstr("two keys of one peer have the same words")));
}

TEST(PeersList, TakesItsWordsInAnyOrder) {
  const auto list =
      list_of("alice " + kAliceKey + " valid-before=2027-01-01T06:30 rate=400M to=db limit=2TB trees into=a/b" +
              " valid-after=2026-12-01\n");
  const Peer& alice = *list.find("alice");
  EXPECT_THAT(alice.purposes, ElementsAre("trees"));
  EXPECT_THAT(alice.services, ElementsAre("db"));
  EXPECT_EQ(alice.directory, "a/b");
  EXPECT_EQ(alice.limit_bytes, 2'000'000'000'000U);
  EXPECT_EQ(alice.rate, BitRate::from_bits_per_second(400'000'000));
  EXPECT_EQ(alice.valid_after, parse_date("2026-12-01"));
  EXPECT_EQ(date_text(*alice.valid_before), "2027-01-01T06:30:00Z");
}

TEST(PeersList, HasNoPeersDirectoryInAnothers) {
  const auto lines = [](const std::string& alice, const std::string& bob) {
    return "alice " + kAliceKey + " into=" + alice + "\nbob " + kBobKey + " into=" + bob + "\n";
  };
  for (const auto& [alice, bob] : std::vector<std::pair<const char*, const char*>>{{"a", "a"},
                                                                                   {"a", "a/b"},
                                                                                   {"a/b", "a"},
                                                                                   {"a/b", "a/b/c/d"},
                                                                                   {"a/b/c/d", "a/b"},
                                                                                   {"Backup", "backup"},
                                                                                   {"a", "A/b"}})
    EXPECT_THAT(list_error(lines(alice, bob)),
                testing::AllOf(testing::StartsWith("list:2: into=" + std::string(bob) + " and into=" + alice +
                                                   " of alice in line 1: where one is in the other"),
                               HasSubstr("keys of one peer, with one name")));
  for (const auto& [alice, bob] : std::vector<std::pair<const char*, const char*>>{
           {"a", "b"}, {"a", "ab"}, {"ab", "a"}, {"a/b", "a/c"}, {"a/b", "a-b"}})
    EXPECT_EQ(list_of(lines(alice, bob)).size(), 2U) << alice << ' ' << bob;
}

TEST(PeersList, TakesDatesAsOpenSshWritesThemInUtc) {
  EXPECT_EQ(parse_date("20261201Z"), parse_date("2026-12-01"));
  EXPECT_EQ(parse_date("202612010630Z"), parse_date("2026-12-01T06:30"));
  EXPECT_EQ(parse_date("20261201063015Z"), parse_date("2026-12-01T06:30:15Z"));
  for (const char* wrong : {"20261201", "202612010630", "2026120106Z", "20261301Z", "202612012500Z", "2026-1201Z",
                            "20261201T0630Z", "Z", "2026120x0630Z"})
    EXPECT_FALSE(parse_date(wrong)) << wrong;
}

TEST(PeersList, LimitsAPeerToItsPurposesAndServices) {
  const auto list = list_of("alice " + kAliceKey + " pipe,gridftp to=db,web\nbob " + kBobKey + " to=db\n");
  const Peer& alice = *list.find("alice");
  EXPECT_TRUE(may(alice, "pipe") && may(alice, "gridftp") && may(alice, "driver"));
  EXPECT_FALSE(may(alice, "bench") || may(alice, "rsh") || may(alice, "forward") || may(alice, "gateway") ||
               may(alice, "trees"));
  EXPECT_THAT(alice.services, ElementsAre("db", "web"));
  EXPECT_EQ(purposes_text(alice), "pipe,gridftp");
  EXPECT_TRUE(may(*list.find("bob"), "rsh"));
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
      {"alice " + kAliceKey + " trees to=db pipe", "\"pipe\" was not expected"},
      {"alice " + kAliceKey + " intoo=alice", "\"intoo=alice\" is unknown; did you mean into=?"},
      {"alice " + kAliceKey + " intoo=alice@home", "is unknown; did you mean into=?"},
      {"alice " + kAliceKey + " into=a into=b", "into= is given twice"},
      {"alice " + kAliceKey + " into=", "is no directory below the listener's"},
      {"alice " + kAliceKey + " into=/etc", "is no directory below the listener's"},
      {"alice " + kAliceKey + " into=../bob", "is no directory below the listener's"},
      {"alice " + kAliceKey + " into=a/../bob", "is no directory below the listener's"},
      {"alice " + kAliceKey + " into=a//b", "is no directory below the listener's"},
      {"alice " + kAliceKey + " into=a/", "is no directory below the listener's"},
      {"alice " + kAliceKey + " into=.udtcat-parts", "is no directory below the listener's"},
      {"alice " + kAliceKey + " into=a\x1b[31m", "is no directory below the listener's"},
      {"alice " + kAliceKey + " limit=2TB", "limit= needs into=DIR"},
      {"alice " + kAliceKey + " into=a limit=2T", "limit=2T is no size"},
      {"alice " + kAliceKey + " into=a limit=0", "limit=0 is no size"},
      {"alice " + kAliceKey + " rate=fast", "rate=fast is no rate"},
      {"alice " + kAliceKey + " rate=0", "rate=0 is no rate"},
      {"alice " + kAliceKey + " valid-after=2026-13-01", "valid-after=2026-13-01 is no date"},
      {"alice " + kAliceKey + " valid-before=tomorrow", "valid-before=tomorrow is no date"},
      {"alice " + kAliceKey + " valid-after=2027-01-01 valid-before=2027-01-01", "the key is never valid"},
      {"udtcat-ed25519 " + kAliceKey, "NAME of the peer is missing in front of its key"},
      {"udtcat-ed25519 " + kAliceKey + " laptop", "NAME of the peer is missing in front of its key"},
      {kAliceKey + " pipe", "NAME of the peer is missing in front of its key"},
      {std::string(65, 'a') + " " + kAliceKey, "1 to 64"},
      {"al\x80"
       "ce " +
           kAliceKey,
       "printable"},
      {"bob " + kAliceKey + " pipe", "\"bob\" is the name of line 1 already, which says something else of it"},
      {"alice " + kBobKey, "this key is that of bob in line 1 already"}};
  for (const auto& [line, says] : mistakes) {
    const std::string error = list_error("bob " + kBobKey + "\n" + line + "\n");
    EXPECT_THAT(error, testing::StartsWith("list:2: ")) << line;
    EXPECT_THAT(error, HasSubstr(says)) << line;
  }
}

TEST(PeersList, TakesPastedLinesWithOneCommentOnceANameStandsBeforeEach) {
  const std::string one = kAliceKey + " root@host\n";
  const std::string other = kBobKey + " root@host\n";
  EXPECT_THAT(list_error(one + other), HasSubstr("in front of this key, NAME " + kBobKey));
  EXPECT_THAT(list_error(one + one), HasSubstr("it says what line 1 says: take one of the two out"));
  const auto list = list_of("alice " + one + "bob " + other);
  EXPECT_EQ(list.find("bob")->key, PublicKey::parse(kBobKey));
}

TEST(PeersList, IsTotalAtEveryTruncationAndWithEveryByteChanged) {
  const std::string text = "alice udtcat-ed25519 " + kAliceKey +
                           " a@b pipe,rsh to=db into=a/b limit=2TB rate=400M valid-after=2026-12-01 "
                           "valid-before=2027-01-01T06:00:00Z # that is all\n";
  ASSERT_EQ(list_of(text).size(), 1U);
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
