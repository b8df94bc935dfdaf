#include "gridftp/server/listing.hpp"

#include <gmock/gmock.h>

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
  EXPECT_EQ(listing_text(all, ListingForm::names, false), "a\r\nb\r\n");
  EXPECT_EQ(std::ranges::count(listing_text(all, ListingForm::facts, false), '\n'), 2);
  EXPECT_THAT(listing_text(all, ListingForm::long_lines, false), HasSubstr("evil??226 Done\r\n"))
      << "which is for people";
  EXPECT_EQ(listing_text({}, ListingForm::facts, false), "");
}

TEST(Listing, LooksLikeThatOfLs) {
  const std::vector<FileFacts> all{facts_of("x"), facts_of("d", FileFacts::Kind::directory)};
  const std::string text = listing_text(all, ListingForm::long_lines, false);
  EXPECT_THAT(text, HasSubstr("-rw-r-----   1 udtcat   udtcat             20 Sep 09  2001 x\r\n"));
  EXPECT_THAT(text, HasSubstr("drw-r-----"));
}

}  // namespace
}  // namespace udtcat::gridftp
