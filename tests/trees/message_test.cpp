// SPDX-License-Identifier: Apache-2.0
#include "trees/message.hpp"

#include <limits>

#include <gmock/gmock.h>

#include "support/bytes.hpp"
#include "support/spec_example.hpp"
#include "trees/disk/entry_path.hpp"
#include "trees/disk/tree_hash.hpp"

namespace udtcat::trees {
namespace {

using test::Bytes;
using testing::HasSubstr;

constexpr std::uint64_t kMaxChunks = 1ULL << 43;  // spec: docs/spec/trees.md §1

files::Digest digest(unsigned char fill) {
  files::Digest made{};
  made.fill(std::byte{fill});
  return made;
}

Hello hello() {
  Hello made{.role = Role::receives, .keeps_owners = true, .job = {}, .place = {}, .paths = {"data/a", "b c"}};
  made.job.fill(std::byte{0x5a});
  return made;
}

/// Each kind has its own part alone.
Entry entry(EntryKind kind = EntryKind::file) {
  Entry made;
  made.kind = kind;
  made.path = "a/\xff b/c";
  made.attributes.mode = 04755;
  made.attributes.changed = {-5, 999'999'999};
  made.attributes.owner = {1000, 100, "alice", ""};
  made.attributes.extended = {{"user.comment", std::string("a\0b", 3)}, {"user.empty", ""}};
  if (kind == EntryKind::file) {
    made.may_be_linked = true;
    made.size_bytes = (1ULL << 63) - 1;
    made.fingerprint.emplace().fill(std::byte{7});
  }
  if (kind == EntryKind::symbolic_link) made.target = "../elsewhere";
  if (kind == EntryKind::hard_link) made.of = 3;
  if (kind == EntryKind::character_device || kind == EntryKind::block_device) {
    made.major = 8;
    made.minor = 0xffffffff;
  }
  return made;
}

Entry some_entry(std::string path) {
  Entry made = entry();
  made.path = std::move(path);
  return made;
}

const Bytes kLeaf = test::random_bytes(1000);
std::span<const std::byte> piece(std::size_t begin, std::size_t bytes) {
  return std::span(kLeaf).subspan(begin, bytes);
}

std::vector<Message> each_message() {
  Entry plain = entry();
  plain.fingerprint.reset();
  plain.may_be_linked = false;
  plain.attributes.extended.clear();
  return {hello(),
          Hello{.role = Role::sends, .keeps_owners = false, .job = {}, .place = "/srv/in", .paths = {}},
          entry(),
          plain,
          entry(EntryKind::directory),
          entry(EntryKind::symbolic_link),
          entry(EntryKind::hard_link),
          entry(EntryKind::fifo),
          entry(EntryKind::character_device),
          entry(EntryKind::block_device),
          Data{7, kMaxChunks - 1, digest(1), {{0, piece(0, 5)}, {5, piece(5, 1)}, {1'048'570, piece(6, 6)}}},
          Zeros{7, 0, kMaxChunks},
          CopyChunks{7, kMaxChunks - 1, 1},
          FileDone{7, digest(2), {}},
          Dropped{7, "it has become shorter"},
          End{12},
          Totals{12, 5'000'000'000},
          Missed{"send x: no such file or directory"},
          UpToDate{7, digest(3)},
          UpToDate{8, std::nullopt},
          Want{7},
          Hashes{7, false, 5, {digest(4), digest(5)}},
          Hashes{7, true, 0, {}},
          Refused{7, "a directory is there"},
          Done{12},
          Failed{Errc::local_read_failed, "input/output error"},
          Failed{Errc::local_write_failed, ""},
          Failed{Errc::stream_refused, "no such place"},
          Failed{Errc::interrupted, "SIGINT"}};
}

Bytes encoded(const Message& message) {
  Bytes bytes;
  encode(message, bytes);
  return bytes;
}

/// Of a message as it stands on the stream, and no byte more.
Result<Message> read(std::span<const std::byte> bytes) {
  const auto length = body_bytes(bytes.first<kHeaderBytes>());
  if (!length) return tl::unexpected(length.error());
  const auto body = bytes.subspan(kHeaderBytes);
  if (body.size() != *length) return fail(Errc::protocol_violated, "read", "another length");
  return decode(std::to_integer<std::uint8_t>(bytes[0]), body);
}

bool survives(const Message& message) {
  const Bytes bytes = encoded(message);
  const auto again = read(bytes);
  return again && again->index() == message.index() && encoded(*again) == bytes;
}

/// A message with one number of its body in another's place.
bool is_refused(const Message& message, std::size_t at, std::string_view hex) {
  Bytes bytes = encoded(message);
  const Bytes other = test::from_hex(hex);
  std::ranges::copy(other, bytes.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + at));
  const auto got = read(bytes);
  return !got && got.error().code == Errc::protocol_violated;
}

TEST(TreeMessages, SurviveTheirEncoding) {
  for (const Message& each : each_message()) EXPECT_TRUE(survives(each)) << test::to_hex(encoded(each));
}

TEST(TreeMessages, AreAppendedToTheBuffer) {
  Bytes bytes = test::from_hex("aa");
  encode(Want{7}, bytes);
  encode(Done{3}, bytes);
  EXPECT_EQ(test::to_hex(bytes), "aa210000080000000000000007240000080000000000000003");
}

TEST(TreeMessages, KeepEveryField) {
  const auto read_hello = std::get<Hello>(read(encoded(hello())).value());
  EXPECT_EQ(read_hello.job, hello().job);
  EXPECT_EQ(read_hello.paths, hello().paths);
  EXPECT_TRUE(read_hello.keeps_owners);
  const auto read_entry = std::get<Entry>(read(encoded(entry())).value());
  EXPECT_EQ(read_entry.attributes.changed, entry().attributes.changed);
  EXPECT_EQ(read_entry.attributes.owner, entry().attributes.owner);
  EXPECT_EQ(read_entry.attributes.extended, entry().attributes.extended);
  EXPECT_EQ(read_entry.fingerprint, entry().fingerprint);
  EXPECT_EQ(std::get<Failed>(read(encoded(Failed{Errc::interrupted, "x"})).value()).cause, Errc::interrupted);
}

TEST(TreeMessages, AreRefusedAtEachTruncation) {
  for (const Message& each : each_message()) {
    const Bytes bytes = encoded(each);
    const auto body = std::span(bytes).subspan(kHeaderBytes);
    for (std::size_t length = 0; length < body.size(); ++length) {
      const auto got = decode(std::to_integer<std::uint8_t>(bytes[0]), body.first(length));
      if (!got) continue;
      // Messages with a list or an option at their end are shorter ones then.
      EXPECT_TRUE(std::holds_alternative<Data>(*got) || std::holds_alternative<UpToDate>(*got) ||
                  std::holds_alternative<Hashes>(*got))
          << test::to_hex(bytes) << " cut to " << length;
      EXPECT_EQ(encoded(*got).size(), kHeaderBytes + length);
    }
  }
}

TEST(TreeMessages, AreRefusedWithTrailingBytes) {
  for (const Message& each : each_message()) {
    Bytes bytes = encoded(each);
    const auto type = std::to_integer<std::uint8_t>(bytes[0]);
    bytes.push_back(std::byte{1});
    EXPECT_FALSE(decode(type, std::span(bytes).subspan(kHeaderBytes))) << test::to_hex(bytes);
  }
}

TEST(TreeMessages, WithAnyByteChangedAreRefusedOrEncodeAgainToTheSame) {
  for (const Message& each : each_message()) {
    Bytes bytes = encoded(each);
    for (std::byte& changed : bytes)
      for (const unsigned flip : {0xffU, 0x80U, 0x01U}) {
        changed ^= std::byte(flip);
        if (const auto got = read(bytes)) {
          const bool has_reason = std::holds_alternative<Dropped>(*got) || std::holds_alternative<Refused>(*got) ||
                                  std::holds_alternative<Failed>(*got) || std::holds_alternative<Missed>(*got);
          if (has_reason)
            EXPECT_TRUE(survives(*got)) << test::to_hex(bytes);  // its reason was made printable
          else
            EXPECT_EQ(encoded(*got), bytes);
        }
        changed ^= std::byte(flip);
      }
  }
}

TEST(TreeMessages, MatchTheSpecification) {
  const test::SpecExample example("trees.md", "message");
  EXPECT_EQ(encoded(Want{7}), example.bytes("want"));
  EXPECT_EQ(encoded(Done{3}), example.bytes("done"));
}

TEST(TreeMessages, AreRefusedByAnUnknownTypeOrLengthInTheHeader) {
  const auto length = [](std::string_view hex) {
    return body_bytes(test::array_of<kHeaderBytes>(test::from_hex(hex)));
  };
  EXPECT_EQ(length("11 131000").value(), kMaxBodyBytes);
  EXPECT_FALSE(length("11 131001"));
  EXPECT_FALSE(length("00 000000"));
  EXPECT_FALSE(length("31 000000"));
  EXPECT_FALSE(decode(0x25, {}));
}

TEST(TreeHellos, OfAnotherVersionRoleOrFlagAreRefused) {
  EXPECT_TRUE(is_refused(hello(), 0, "01"));
  EXPECT_TRUE(is_refused(hello(), 1, "00"));
  EXPECT_TRUE(is_refused(hello(), 1, "03"));
  EXPECT_TRUE(is_refused(hello(), 2, "08"));
}

TEST(TreeHellos, NameAPlaceOrPathsByTheirRole) {
  Hello wanting = hello();
  wanting.place = "/srv";
  EXPECT_FALSE(survives(wanting)) << "a receiver knows its own place";
  Hello sending = hello();
  sending.role = Role::sends;
  EXPECT_FALSE(survives(sending)) << "a sender wants no paths";
}

/// Proves: trees.path-count, trees.place-length
TEST(TreeHellos, LimitTheirPaths) {
  Hello most = hello();
  most.paths.assign(65'536, "p");
  EXPECT_TRUE(survives(most));
  most.paths.emplace_back("p");
  EXPECT_FALSE(survives(most));
  for (const std::string& each : {std::string(), std::string(4097, 'p'), std::string("p\0q", 3)}) {
    Hello wrong = hello();
    wrong.paths = {each};
    EXPECT_FALSE(survives(wrong));
  }
  Hello many = hello();
  many.paths.clear();
  EXPECT_TRUE(is_refused(many, 21, "00001000")) << "4096 paths, and no byte of them";
  Hello far{.role = Role::sends, .keeps_owners = false, .job = {}, .place = std::string(4097, 'p'), .paths = {}};
  EXPECT_FALSE(survives(far));
  for (const std::string& place : {std::string("p\0q", 3), std::string(4096, 'p')}) {
    far.place = place;
    EXPECT_EQ(survives(far), place.size() == 4096);
  }
}

TEST(TreeEntries, AreDirectoriesAtTheReceiversDirectory) {
  EXPECT_FALSE(survives(some_entry(".")));
  Entry directory = entry(EntryKind::directory);
  directory.path = ".";
  EXPECT_TRUE(survives(directory));
}

TEST(TreeEntries, OfUnknownKindOrFlagAreRefused) {
  EXPECT_TRUE(is_refused(entry(EntryKind::fifo), 0, "00"));
  EXPECT_TRUE(is_refused(entry(EntryKind::fifo), 0, "08"));
  EXPECT_TRUE(is_refused(entry(), 1, "02"));
  EXPECT_TRUE(is_refused(entry(EntryKind::directory), 1, "01")) << "nothing is a hard link to a directory";
}

TEST(TreeEntries, LimitTheirNumbers) {
  EXPECT_TRUE(is_refused(entry(), 2, "00001000")) << "a mode of thirteen bits";
  EXPECT_TRUE(is_refused(entry(), 14, "3b9aca00")) << "10^9 nanoseconds";
  Entry large = entry();
  large.size_bytes = 1ULL << 63;
  EXPECT_FALSE(survives(large));
  Entry linked = entry(EntryKind::hard_link);
  linked.of = 1ULL << 63;
  EXPECT_FALSE(survives(linked));
}

TEST(TreeEntries, HaveAFingerprintOf16BytesOrNone) {
  Entry plain = entry();
  plain.fingerprint.reset();
  plain.attributes.extended.clear();
  const std::size_t fingerprint_at = encoded(plain).size() - kHeaderBytes - 3;
  EXPECT_TRUE(is_refused(plain, fingerprint_at, "02")) << "which are there";
  EXPECT_FALSE(is_refused(plain, fingerprint_at, "00"));
}

TEST(TreeEntries, RefuseATargetThatNoLinkCanHave) {
  const auto with = [](std::string target) {
    Entry made = entry(EntryKind::symbolic_link);
    made.target = std::move(target);
    return survives(made);
  };
  EXPECT_TRUE(with("/"));
  EXPECT_TRUE(with(std::string(kMaxLinkTargetBytes, 't')));
  EXPECT_FALSE(with(""));
  EXPECT_FALSE(with(std::string(kMaxLinkTargetBytes + 1, 't')));
  EXPECT_FALSE(with(std::string("a\0b", 3)));
}

TEST(TreeEntries, RefuseANulInAName) {
  Entry owned = entry();
  owned.attributes.owner.user = std::string("a\0b", 3);
  EXPECT_FALSE(survives(owned));
  owned.attributes.owner.user = std::string(255, 'u');
  EXPECT_TRUE(survives(owned));
}

/// Proves: trees.attribute-length
TEST(TreeEntries, HaveExtendedAttributesOfThreeNamespaces) {
  const auto with = [](std::string name, std::size_t bytes) {
    Entry made = entry();
    made.attributes.extended = {{std::move(name), std::string(bytes, 'v')}};
    return survives(made);
  };
  EXPECT_TRUE(with("user.a", 65'536));
  EXPECT_TRUE(with("security.capability", 20));
  EXPECT_TRUE(with("trusted.a", 0));
  EXPECT_FALSE(with("user.a", 65'537));
  EXPECT_TRUE(with("user." + std::string(250, 'a'), 1));
  EXPECT_FALSE(with("system.posix_acl_access", 1));
  EXPECT_FALSE(with("", 1));
  EXPECT_FALSE(with(std::string("user.\0", 6), 1));
}

TEST(TreeData, HaveExtentsInOrderWithinAChunk) {
  const auto with = [](std::vector<Extent> extents) { return survives(Data{1, 0, digest(1), std::move(extents)}); };
  const Bytes chunk(kChunkBytes, std::byte{1});
  EXPECT_TRUE(with({{0, chunk}}));
  EXPECT_FALSE(with({{1, chunk}})) << "beyond the chunk";
  EXPECT_FALSE(with({{0xffffffff, piece(0, 2)}}));
  EXPECT_FALSE(with({{5, piece(0, 0)}})) << "empty";
  EXPECT_FALSE(with({{5, piece(0, 2)}, {6, piece(0, 2)}})) << "twice";
  EXPECT_FALSE(with({{5, piece(0, 2)}, {0, piece(0, 2)}})) << "backwards";
  EXPECT_FALSE(survives(Data{1, kMaxChunks, digest(1), {}}));
}

TEST(TreeData, BorrowTheBytesThatWereRead) {
  const Bytes bytes = encoded(Data{1, 0, digest(1), {{0, piece(0, 5)}}});
  const auto data = std::get<Data>(read(bytes).value());
  EXPECT_EQ(data.extents.front().bytes.data(), bytes.data() + bytes.size() - 5);
}

template <typename Run>
class TreeRuns : public testing::Test {};
using Runs = testing::Types<Zeros, CopyChunks>;
TYPED_TEST_SUITE(TreeRuns, Runs);

TYPED_TEST(TreeRuns, AreLeavesThatAFileCanHave) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(survives(TypeParam{1, 0, 0}));
  EXPECT_FALSE(survives(TypeParam{1, kMaxChunks, 1}));
  EXPECT_FALSE(survives(TypeParam{1, 1, kMaxChunks}));
  EXPECT_FALSE(survives(TypeParam{1, 1, kMost})) << "whose sum is 0";
  EXPECT_FALSE(survives(TypeParam{1, kMost, 1}));
}

TEST(TreeHashes, AreNotEmptyUnlessTheyAreTheLast) {
  EXPECT_FALSE(survives(Hashes{1, false, 0, {}}));
  EXPECT_TRUE(survives(Hashes{1, false, 1, {}}));
  EXPECT_TRUE(survives(Hashes{1, true, kMaxChunks, {}}));
  EXPECT_FALSE(survives(Hashes{1, true, kMaxChunks + 1, {}}));
  EXPECT_TRUE(is_refused(Hashes{1, true, 0, {}}, 8, "02"));
  EXPECT_TRUE(survives(Hashes{1, false, 0, std::vector<files::Digest>(kMaxDigests)}));
}

TEST(TreeMessages, LimitEntryNumbersTo2To63) {
  constexpr EntryId kFar = 1ULL << 63;
  const std::vector<Message> far{Data{kFar, 0, digest(1), {}},
                                 Zeros{kFar, 0, 1},
                                 CopyChunks{kFar, 0, 1},
                                 FileDone{kFar, digest(1), {}},
                                 Dropped{kFar, ""},
                                 End{kFar},
                                 UpToDate{kFar, std::nullopt},
                                 Want{kFar},
                                 Hashes{kFar, true, 0, {}},
                                 Refused{kFar, ""},
                                 Done{kFar}};
  for (const Message& each : far) EXPECT_FALSE(survives(each)) << each.index();
  EXPECT_TRUE(survives(Want{kFar - 1}));
}

/// Proves: trees.reason-length
TEST(TreeReasons, AreCutAndMadePrintable) {
  const auto refused = std::get<Refused>(read(encoded(Refused{1, std::string(2000, 'r') + "\x1b"})).value());
  EXPECT_EQ(refused.reason, std::string(1024, 'r'));
  const auto dropped = std::get<Dropped>(read(test::from_hex("15 00000c 0000000000000001 0002 1b41")).value());
  EXPECT_EQ(dropped.reason, "?A");
}

/// Proves: trees.reason-length
TEST(TreeReasons, LongerThanTheirLimitAreRefused) {
  Bytes bytes = test::from_hex("15 00040b 0000000000000001 0401");
  bytes.resize(bytes.size() + 1025, std::byte{'r'});
  EXPECT_FALSE(read(bytes));
  bytes = test::from_hex("30 000404 01 0401");
  bytes.resize(bytes.size() + 1025, std::byte{'r'});
  EXPECT_FALSE(read(bytes));
}

TEST(TreeFailures, HaveOneOfTheCausesOfAReset) {
  const Message failed = Failed{Errc::local_read_failed, "why"};
  for (const char* each : {"00", "03", "06"}) EXPECT_TRUE(is_refused(failed, 0, each)) << each;
}

TEST(TreeFailures, AreReportedAsTheOtherEnds) {
  EXPECT_EQ(error_of({Errc::local_read_failed, "no\nsuch"}).message(), "the other end: no?such");
  EXPECT_EQ(error_of({Errc::local_read_failed, ""}).code, Errc::remote_read_failed);
  EXPECT_EQ(error_of({Errc::local_write_failed, ""}).code, Errc::remote_write_failed);
  EXPECT_EQ(error_of({Errc::stream_refused, ""}).code, Errc::stream_refused);
  EXPECT_EQ(error_of({Errc::interrupted, ""}).code, Errc::peer_interrupted);
  EXPECT_THAT(error_of({Errc::interrupted, ""}).message(), HasSubstr("the other end"));
}

}  // namespace
}  // namespace udtcat::trees
