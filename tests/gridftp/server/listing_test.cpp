// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/listing.hpp"

#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

FileFacts facts_of(std::string name, FileFacts::Kind kind = FileFacts::Kind::file) {
  FileFacts facts;
  facts.name = std::move(name);
  facts.kind = kind;
  facts.size_bytes = 20;
  facts.changed = 1'000'000'000;
  facts.mode = 0640;
  facts.writable = true;
  facts.letter = kind == FileFacts::Kind::directory ? 'd' : '-';
  return facts;
}

TEST(Listing, WritesTimesInUtc) {
  EXPECT_EQ(time_text(0), "19700101000000");
  EXPECT_EQ(time_text(1'000'000'000), "20010909014640");
}

TEST(Listing, SaysOfAFileWhatClientsAskFor) {
  EXPECT_EQ(facts_line(facts_of("a b"), false),
            "Type=file;Size=20;Modify=20010909014640;Perm=rwdf;UNIX.mode=0640; a b");
  EXPECT_THAT(facts_line(facts_of("d", FileFacts::Kind::directory), false), HasSubstr("Type=dir;"));
  EXPECT_THAT(facts_line(facts_of("p", FileFacts::Kind::other), false), HasSubstr("Type=OS.unix=other;"));
}

TEST(Listing, OffersNoChangesWhereNoneAreAllowed) {
  EXPECT_THAT(facts_line(facts_of("x"), true), HasSubstr("Perm=r;"));
  EXPECT_THAT(facts_line(facts_of("x", FileFacts::Kind::directory), true), HasSubstr("Perm=el;"));
}

TEST(Listing, LeavesOutNamesThatNoLineCanCarry) {
  const std::vector<FileFacts> all{facts_of("a"), facts_of("evil\r\n226 Done"), facts_of("b")};
  EXPECT_EQ(listing_text(all, ListingFormat::names, false), "a\r\nb\r\n");
  EXPECT_EQ(std::ranges::count(listing_text(all, ListingFormat::facts, false), '\n'), 2);
  EXPECT_THAT(listing_text(all, ListingFormat::long_lines, false), HasSubstr("evil??226 Done\r\n"))
      << "which is for people";
  EXPECT_EQ(listing_text({}, ListingFormat::facts, false), "");
}

TEST(Listing, LooksLikeThatOfLs) {
  const std::vector<FileFacts> all{facts_of("x"), facts_of("d", FileFacts::Kind::directory)};
  const std::string text = listing_text(all, ListingFormat::long_lines, false);
  EXPECT_THAT(text, HasSubstr("-rw-r-----   1 udtcat   udtcat             20 Sep 09  2001 x\r\n"));
  EXPECT_THAT(text, HasSubstr("drw-r-----"));
}

class ListingSources : public testing::Test {
 protected:
  ListingSource source() { return {io, root.list("/").value(), ListingFormat::names, true}; }
  /// All of it, in blocks of at most so many bytes.
  std::string all_of(ListingSource& from, std::size_t block_bytes) {
    std::string text;
    Bytes into(block_bytes);
    while (const auto block = run(io, from.next(into)).value()) {
      EXPECT_EQ(block->begin, text.size());
      // SAFETY: any byte is a char.
      text.append(reinterpret_cast<const char*>(into.data()), block->bytes());
    }
    return text;
  }

  boost::asio::io_context io;
  Folder folder;
  const ServedRoot root = ServedRoot::open(folder.path()).value();
};

TEST_F(ListingSources, NameEveryEntryOnceOverManySlices) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < 3 * ListingSource::kSliceEntries; ++i) {
    names.insert("file" + std::to_string(i));
    folder.write("file" + std::to_string(i), {});
  }
  for (const std::size_t block_bytes : {std::size_t{7}, std::size_t{1'000}, std::size_t{1'000'000}}) {
    ListingSource from = source();
    std::istringstream lines(all_of(from, block_bytes));
    std::multiset<std::string> listed;
    for (std::string line; std::getline(lines, line);) listed.insert(line.substr(0, line.size() - 1));
    EXPECT_TRUE(std::ranges::equal(listed, names)) << block_bytes;
  }
}

TEST_F(ListingSources, OfNothingGiveNothing) {
  ListingSource from = source();
  EXPECT_EQ(all_of(from, 100), "");
  EXPECT_EQ(all_of(from, 100), "") << "and so it stays";
}

TEST_F(ListingSources, OfAFileGiveThatFile) {
  folder.write("file", {});
  ListingSource from(io, root.facts_of("/file").value(), ListingFormat::names, true);
  EXPECT_EQ(all_of(from, 3), "/file\r\n");
}

TEST_F(ListingSources, GiveEachByteOnce) {
  for (int i = 0; i < 100; ++i) folder.write(std::to_string(i), {});
  ListingSource from = source();
  Bytes one(150);
  Bytes other(150);
  const auto first = begin(io, from.next(one));
  const auto second = begin(io, from.next(other));
  EXPECT_EQ(await(io, first).value(), (files::ByteRange{0, 150}));
  EXPECT_EQ(await(io, second).value(), (files::ByteRange{150, 300}));
}

TEST(Listing, SaysTheTimeOfARecentFileAndTheYearOfAnother) {
  const FileFacts file = facts_of("x");
  const auto line_at = [&](std::int64_t now) {
    return listing_text({&file, 1}, ListingFormat::long_lines, false, now);
  };
  EXPECT_THAT(line_at(file.changed + 60), HasSubstr("Sep 09 01:46 x"));
  EXPECT_THAT(line_at(file.changed + 15'778'475), HasSubstr("Sep 09 01:46 x"));
  EXPECT_THAT(line_at(file.changed + 15'778'476), HasSubstr("Sep 09  2001 x"));
  EXPECT_THAT(line_at(file.changed - 1), HasSubstr("Sep 09  2001 x")) << "of the future";
}

TEST(Listing, ShowsALinkThatLeadsNowhereAsOne) {
  FileFacts link = facts_of("l", FileFacts::Kind::link);
  link.letter = 'l';
  link.leads_to = "gone\nby";
  EXPECT_THAT(listing_text({&link, 1}, ListingFormat::long_lines, false), HasSubstr(" l -> gone?by\r\n"));
  EXPECT_THAT(listing_text({&link, 1}, ListingFormat::long_lines, false), testing::StartsWith("lrw"));
  EXPECT_THAT(facts_line(link, false), testing::StartsWith("Type=OS.unix=slink:gone?by;"));
  link.leads_to = "a;Type=file";
  EXPECT_THAT(facts_line(link, false), testing::StartsWith("Type=OS.unix=slink:;"));
}

TEST(Listing, CountsTheNamesThatItLeavesOut) {
  const std::vector<FileFacts> all{facts_of("a"), facts_of("b\nc"), facts_of("d\r")};
  EXPECT_EQ(with_line_end(all, ListingFormat::facts), 2U);
  EXPECT_EQ(with_line_end(all, ListingFormat::names), 2U);
  EXPECT_EQ(with_line_end(all, ListingFormat::long_lines), 0U) << "which has all of them";
}

}  // namespace
}  // namespace udtcat::gridftp
