// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/manifest_line.hpp"

#include <map>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/spec_example.hpp"

namespace udtcat::trees {
namespace {

const std::string kHex(64, 'a');

std::string cause_of(const std::string& line) {
  const auto entry = parse_line(line);
  return entry ? "none" : entry.error().cause;
}

TEST(ManifestLine, MatchesTheSpecification) {
  const test::SpecExample example("manifest.md", "entry");
  ManifestEntry file{.path = "a b/c\\", .mode = 0644, .changed = {1'700'000'000, 1}, .digest = files::digest_of({})};
  ManifestEntry link{
      .kind = EntryKind::symbolic_link, .path = "to-etc", .changed = {-1, 500'000'000}, .target = "/etc"};
  ManifestEntry other{.kind = EntryKind::hard_link, .path = "d", .target = "a b/c\\"};
  ManifestEntry device{.kind = EntryKind::character_device, .path = "null", .mode = 0666, .major = 1, .minor = 3};
  for (const auto& [name, entry] :
       std::map<std::string, ManifestEntry>{{"file", file}, {"link", link}, {"hard-link", other}, {"device", device}}) {
    EXPECT_EQ(encode_line(entry), example.text(name));
    EXPECT_EQ(parse_line(example.text(name)), entry) << name;
  }
}

TEST(ManifestLine, KeepsEveryKindOfName) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte)
    if (byte != '/') every_byte += static_cast<char>(byte);
  for (const std::string& path : {std::string("."), every_byte, std::string("a/b"), std::string(" ")}) {
    for (const EntryKind kind : {EntryKind::file, EntryKind::directory, EntryKind::symbolic_link, EntryKind::hard_link,
                                 EntryKind::fifo, EntryKind::character_device, EntryKind::block_device}) {
      ManifestEntry entry{.kind = kind, .path = path};
      if (kind == EntryKind::symbolic_link || kind == EntryKind::hard_link) entry.target = path;
      EXPECT_TRUE(is_manifest_entry(entry));
      EXPECT_EQ(parse_line(encode_line(entry)), entry) << encode_line(entry);
    }
  }
}

TEST(ManifestLine, KeepsTheLargestNumbers) {
  for (const std::int64_t seconds : {INT64_MIN, INT64_MAX}) {
    const ManifestEntry file{
        .path = "a", .mode = 07777, .changed = {seconds, 999'999'999}, .size_bytes = INT64_MAX, .digest = {}};
    EXPECT_TRUE(is_manifest_entry(file));
    EXPECT_EQ(parse_line(encode_line(file)), file);
  }
  const ManifestEntry device{.kind = EntryKind::block_device, .path = "a", .major = UINT32_MAX, .minor = UINT32_MAX};
  EXPECT_EQ(parse_line(encode_line(device)), device);
}

TEST(ManifestLine, SaysWhatIsWrong) {
  for (const auto& [line, cause] : std::map<std::string, std::string>{
           {"", "it is of no kind that is known"},
           {"socket 0644 0.000000000 a", "it is of no kind that is known"},
           {"fifo", "its mode is missing"},
           {"fifo 644 0.000000000 a", "its mode is not of four octal digits"},
           {"fifo 0648 0.000000000 a", "its mode is not of four octal digits"},
           {"fifo -644 0.000000000 a", "its mode is not of four octal digits"},
           {"fifo 0644 0 a", "its time is not of seconds, a point and nine digits"},
           {"fifo 0644 0.00000000 a", "its time is not of seconds, a point and nine digits"},
           {"fifo 0644 -0.000000000 a", "its time is not of seconds, a point and nine digits"},
           {"fifo 0644 01.000000000 a", "its time is not of seconds, a point and nine digits"},
           {"fifo 0644 9223372036854775808.000000000 a", "its time is not of seconds, a point and nine digits"},
           {"fifo 0644 0.000000000", "its path is missing"},
           {"fifo 0644 0.000000000 ", "its path may not stand in a tree"},
           {"fifo 0644  0.000000000 a", "its time is not of seconds, a point and nine digits"},
           {"fifo 0644 0.000000000 a ", "more follows than belongs to it"},
           {"fifo 0644 0.000000000 a\tb", "its path has a byte that is not written as it has to be"},
           {"fifo 0644 0.000000000 a\\", "its path has a byte that is not written as it has to be"},
           {"fifo 0644 0.000000000 a\\04", "its path has a byte that is not written as it has to be"},
           {"fifo 0644 0.000000000 \\101", "its path has a byte that is not written as it has to be"},
           {"fifo 0644 0.000000000 \\777", "its path has a byte that is not written as it has to be"},
           {"fifo 0644 0.000000000 \\000", "its path may not stand in a tree"},
           {"fifo 0644 0.000000000 ../a", "its path may not stand in a tree"},
           {"fifo 0644 0.000000000 /a", "its path may not stand in a tree"},
           {"file 0644 0.000000000 00 " + kHex + " a", "its size is no number up to 9223372036854775807"},
           {"file 0644 0.000000000 9223372036854775808 " + kHex + " a",
            "its size is no number up to 9223372036854775807"},
           {"file 0644 0.000000000 1 " + kHex + "a a", "its hash is not of 64 digits, 0 to 9 and a to f"},
           {"file 0644 0.000000000 1 A" + kHex.substr(1) + " a", "its hash is not of 64 digits, 0 to 9 and a to f"},
           {"file 0644 0.000000000 1 -" + kHex.substr(1) + " a", "its hash is not of 64 digits, 0 to 9 and a to f"},
           {"device 0644 0.000000000 d 1 2 a", "its kind of device is neither c nor b"},
           {"device 0644 0.000000000 c 4294967296 2 a", "its major number is no number up to 4294967295"},
           {"link 0.000000000 a", "its target is missing"},
           {"link 0.000000000 a ", "its target is none that a link can have"},
           {"hard-link a ../b", "its other name may not stand in a tree"}})
    EXPECT_EQ(cause_of(line), cause) << line;
}

TEST(ManifestLine, IsNotWrittenBeyondItsLimits) {
  EXPECT_FALSE(is_manifest_entry({.path = "../a"}));
  EXPECT_FALSE(is_manifest_entry({.path = "a", .mode = 010000}));
  EXPECT_FALSE(is_manifest_entry({.path = "a", .changed = {0, 1'000'000'000}}));
  EXPECT_FALSE(is_manifest_entry({.path = "a", .size_bytes = UINT64_MAX}));
  EXPECT_FALSE(is_manifest_entry({.kind = EntryKind::symbolic_link, .path = "a"}));
  EXPECT_FALSE(is_manifest_entry({.kind = EntryKind::hard_link, .path = "a", .target = "/"}));
}

TEST(ManifestLine, OfTheEndIsParsedAgain) {
  const std::string line = encode_line(ManifestEnd{3, files::digest_of({})});
  EXPECT_TRUE(is_end_line(line));
  EXPECT_EQ(parse_end_line(line)->entries, 3U);
  EXPECT_EQ(parse_end_line(line)->digest, files::digest_of({}));
  for (const std::string& wrong : {std::string("end"), std::string("end 3"), "end 03 " + kHex, "end 3 " + kHex + " ",
                                   "ends 3 " + kHex, "end -3 " + kHex})
    EXPECT_FALSE(parse_end_line(wrong)) << wrong;
}

}  // namespace
}  // namespace udtcat::trees
