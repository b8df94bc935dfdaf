// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/listed_entries.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

using Kind = ListedEntry::Kind;

constexpr std::string_view kGlobus =
    "Type=cdir;Modify=20261125042708;Size=4096;Perm=cfmpel; .\r\n"
    "Type=pdir;Modify=20261125042711;Size=4096;Perm=cfmpel; ..\r\n"
    "Type=dir;Modify=20261125042708;Size=4096;Perm=cfmpel;Unique=fe00-99a192; a\r\n"
    "Type=dir;Modify=20261125042708;Size=4096;UNIX.slink=/tmp/a; b\r\n"
    "Type=OS.unix=pipe;Modify=20261125042708;Size=0;Perm=; pipe\r\n"
    "Type=file;Modify=20261125042708;Size=3;Perm=awr; x y;z \r\n";

std::string said_of(std::string_view text) {
  const auto entries = parse_listing(text);
  return entries ? "" : entries.error().message();
}

TEST(ListedEntries, AreReadAsGlobusWritesIt) {
  const std::vector<ListedEntry> expected{
      {"a", Kind::directory}, {"b", Kind::link}, {"pipe", Kind::special}, {"x y;z ", Kind::file}};
  EXPECT_EQ(parse_listing(kGlobus).value(), expected);
}

TEST(ListedEntries, AreReadWhateverTheirLettersOrderAndLineEnds) {
  const std::vector<ListedEntry> expected{{"a", Kind::file}, {"b", Kind::directory}, {"c", Kind::link}};
  EXPECT_EQ(parse_listing("TYPE=OS.unix=slink:/x; c\ntype=DIR; b\r\nSize=1;tYpE=File; a\r\n").value(), expected);
  EXPECT_TRUE(parse_listing("").value().empty());
}

TEST(ListedEntries, AreWholeOrNoneAtEveryTruncation) {
  for (std::size_t bytes = 0; bytes < kGlobus.size(); ++bytes) {
    const bool at_a_line = bytes == 0 || kGlobus[bytes - 1] == '\n';
    EXPECT_EQ(parse_listing(kGlobus.substr(0, bytes)).has_value(), at_a_line) << bytes;
  }
}

TEST(ListedEntries, HaveNoNameThatLeadsElsewhereWhateverByteIsChanged) {
  for (std::size_t at = 0; at < kGlobus.size(); ++at)
    for (const char letter : std::string_view("\0\r\n/.; =\xff", 9)) {
      std::string text(kGlobus);
      text[at] = letter;
      const auto entries = parse_listing(text);
      if (!entries) continue;
      for (const ListedEntry& entry : *entries)
        EXPECT_TRUE(entry.kind == Kind::unsayable ||
                    (!entry.name.empty() && entry.name != "." && entry.name != ".." &&
                     entry.name.find_first_of(std::string_view("/\r\n\0\xff", 5)) == std::string::npos));
    }
}

TEST(ListedEntries, AreRefusedWithAnInvalidName) {
  for (const char* name : {"", ".", "..", "/etc/passwd", "a/b", "../x"})
    EXPECT_NE(said_of("Type=file; " + std::string(name) + "\r\n"), "") << name;
  EXPECT_NE(said_of(std::string("Type=file; a\0b\r\n", 16)), "");
  EXPECT_NE(said_of("Type=dir; ..\r\n"), "") << "only pdir may be called so";
  EXPECT_EQ(said_of("Type=file; " + std::string(255, 'n') + "\r\n"), "");
  EXPECT_NE(said_of("Type=file; " + std::string(256, 'n') + "\r\n").find("255 bytes"), std::string::npos);
}

TEST(ListedEntries, AreRefusedWithoutATypeOrAName) {
  for (const char* line : {" a", "Size=1; a", "Type=; a", "Type=file;", "\r", "-rw-r--r-- 1 root root 1 Jan 1 a"})
    EXPECT_NE(said_of(std::string(line) + "\n"), "") << line;
}

TEST(ListedEntries, AreRefusedWithANameTwice) {
  EXPECT_NE(said_of("Type=file; a\r\nType=file; b\r\nType=dir; a\r\n").find("appears twice"), std::string::npos);
}

TEST(ListedEntries, AreMarkedWhereNoCommandCanNameThem) {
  const std::vector<ListedEntry> expected{{"a\rb", Kind::unsayable}, {"c", Kind::file}, {"d\xff", Kind::unsayable}};
  EXPECT_EQ(parse_listing("Type=file; d\xff\r\nType=file; c\r\nType=dir; a\rb\r\n").value(), expected);
}

TEST(ListedEntries, AreFilesWhereALinkLeadsToOne) {
  EXPECT_EQ(parse_listing("Type=file;UNIX.slink=/x; a\r\n").value().front().kind, Kind::file);
  EXPECT_EQ(parse_listing("Type=dir;UNIX.slink=/x; a\r\n").value().front().kind, Kind::link)
      << "which may lead to a directory that it is in";
}

TEST(EndOfListing, TellsHowManyNamesAreMissing) {
  for (const MissingNames& missing : {MissingNames{}, MissingNames{.with_line_end = 1},
                                      MissingNames{.without_status = 1'000'000, .errno_value = EIO}})
    EXPECT_EQ(missing_names_in(end_of_listing(missing)), missing.count());
  const std::string whole = end_of_listing({.with_line_end = 2, .without_status = 10, .errno_value = EIO});
  EXPECT_EQ(
      whole,
      "Listing complete, without 12 names: 2 with a line end, which FTP cannot carry, 10 that cannot be looked at "
      "(the last: input/output error).");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_LE(missing_names_in(whole.substr(0, bytes)), 12U);
  for (const char* other : {"", "Transfer complete.", "Listing complete, without many names"})
    EXPECT_EQ(missing_names_in(other), 0U) << other;
}

}  // namespace
}  // namespace udtcat::gridftp
