// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/proof_book.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <set>

#include "support/spec_example.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

Stamp stamp_of_number(int number) {
  Stamp stamp{};
  stamp.fill(static_cast<std::byte>(number));
  return stamp;
}
files::Digest digest_of_number(int number) {
  files::Digest digest{};
  digest.fill(static_cast<std::byte>(number));
  return digest;
}

const files::FileLocation kNowhere("/no/such/place/book");

ProofBook with_two_files(const files::FileLocation& location) {
  ProofBook book = ProofBook::load(location);
  book.note("a", stamp_of_number(1), stamp_of_number(2), digest_of_number(3));
  book.note("b/\n", stamp_of_number(4), stamp_of_number(5), digest_of_number(6));
  return book;
}

/// `content` with the hash that it should have behind it.
Bytes with_hash(Bytes content) {
  const files::Digest digest = files::digest_of({content});
  content.insert(content.end(), digest.begin(), digest.end());
  return content;
}

TEST(ProofBook, KnowsAFileByItsPathAndBothStamps) {
  ProofBook book = with_two_files(kNowhere);
  EXPECT_EQ(book.find("a", stamp_of_number(1), stamp_of_number(2)), digest_of_number(3));
  EXPECT_FALSE(book.find("a", stamp_of_number(0), stamp_of_number(2))) << "another source";
  EXPECT_FALSE(book.find("a", stamp_of_number(1), stamp_of_number(0))) << "changed here";
  EXPECT_FALSE(book.find("b", stamp_of_number(1), stamp_of_number(2)));
  book.note("a", stamp_of_number(7), stamp_of_number(8), digest_of_number(9));
  EXPECT_FALSE(book.find("a", stamp_of_number(1), stamp_of_number(2))) << "it has changed since";
  EXPECT_EQ(book.find("a", stamp_of_number(7), stamp_of_number(8)), digest_of_number(9));
  book.forget("a");
  book.forget("a");
  EXPECT_FALSE(book.find("a", stamp_of_number(7), stamp_of_number(8)));
  EXPECT_EQ(book.size(), 1U);
}

TEST(ProofBook, SurvivesASaveAndLoad) {
  const Folder folder;
  const files::FileLocation location(folder / "book");
  EXPECT_EQ(ProofBook::load(location).size(), 0U) << "before it was saved";
  ProofBook book = with_two_files(location);
  EXPECT_TRUE(book.save());
  EXPECT_FALSE(folder.has("book.new"));
  ProofBook loaded = ProofBook::load(location);
  EXPECT_EQ(loaded.size(), 2U);
  EXPECT_EQ(loaded.find("b/\n", stamp_of_number(4), stamp_of_number(5)), digest_of_number(6));
  EXPECT_EQ(loaded.encode(), book.encode());
  EXPECT_EQ(folder.read("book"), book.encode());
}

TEST(ProofBook, WithoutAFileIsTheSpecifications) {
  EXPECT_EQ(ProofBook::load(kNowhere).encode(), test::SpecExample("trees.md", "book").bytes("empty"));
}

TEST(ProofBook, LargerThanAPieceComesBackToo) {
  const Folder folder;
  const files::FileLocation location(folder / "book");
  ProofBook book = ProofBook::load(location);
  for (int i = 0; i < 1'000; ++i)
    book.note(std::to_string(i) + '/' + std::string(250, 'x'), stamp_of_number(1), stamp_of_number(2),
              digest_of_number(i));
  EXPECT_TRUE(book.save());
  EXPECT_EQ(ProofBook::load(location).encode(), book.encode());
}

TEST(ProofBook, NotesOnlyWhatItCanSave) {
  ProofBook book = with_two_files(kNowhere);
  for (const std::string& path : {std::string(), std::string("/a"), std::string("../a"), std::string(256, 'x')})
    book.note(path, stamp_of_number(1), stamp_of_number(2), digest_of_number(3));
  EXPECT_EQ(book.size(), 2U);
  book.note(std::string(255, 'x') + "/x", stamp_of_number(1), stamp_of_number(2), {});
  EXPECT_EQ(ProofBook::parse(book.encode(), kNowhere)->size(), 3U);
}

TEST(ProofBook, ThatIsCutIsNone) {
  const auto bytes = with_two_files(kNowhere).encode();
  const std::span all(bytes);
  std::size_t books = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(ProofBook::parse(all.first(length), kNowhere)) << length;
    if (ProofBook::parse(with_hash({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}), kNowhere))
      ++books;
  }
  EXPECT_EQ(books, 3U) << "with its own hash, behind none, one and both of its proofs";
}

TEST(ProofBook, WithAnyByteChangedIsNone) {
  auto bytes = with_two_files(kNowhere).encode();
  for (std::byte& byte : bytes) {
    for (const int change : {1, 0x80, 0xff}) {
      byte ^= static_cast<std::byte>(change);
      EXPECT_FALSE(ProofBook::parse(bytes, kNowhere)) << &byte - bytes.data();
      byte ^= static_cast<std::byte>(change);
    }
  }
}

TEST(ProofBook, WithAPathTwiceOrThatIsNoneIsNone) {
  const auto entry = [](int shared, const std::string& rest) {
    return std::string(64, 'x') + std::string(5, '\0') + static_cast<char>(shared) + '\0' +
           static_cast<char>(rest.size()) + rest;
  };
  const auto is_book = [](const std::string& entries) {
    const std::string head = std::string("udtcat proofs 2\n") + std::string(4, '\0');
    return ProofBook::parse(with_hash(bytes_of(head + entries)), kNowhere).has_value();
  };
  EXPECT_TRUE(is_book(entry(0, "a") + entry(1, "/b") + entry(2, "c") + entry(0, "b")));
  EXPECT_TRUE(is_book(entry(0, "a/b") + entry(1, "")));
  EXPECT_FALSE(is_book(entry(0, "a") + entry(0, "b") + entry(0, "a"))) << "twice";
  EXPECT_FALSE(is_book(entry(0, "ab") + entry(0, "ac"))) << "they share more";
  EXPECT_FALSE(is_book(entry(0, "a") + entry(2, "b"))) << "there is less before it";
  EXPECT_FALSE(is_book(entry(0, "a") + "b"));
  for (const char* path : {"", "/a", "a/", "a//b", "..", "a/../b"}) EXPECT_FALSE(is_book(entry(0, path))) << path;
  std::string of_the_future = entry(0, "a");
  of_the_future[64 + 3] = '\1';
  EXPECT_FALSE(is_book(of_the_future));
}

TEST(ProofBook, ThatIsDamagedIsEmptyAndCanBeSavedAgain) {
  const Folder folder;
  const files::FileLocation location(folder / "book");
  folder.write("book", bytes_of("udtcat proofs 2\nand no more"));
  EXPECT_EQ(ProofBook::load(location).size(), 0U);
  EXPECT_TRUE(with_two_files(location).save());
  EXPECT_EQ(ProofBook::load(location).size(), 2U);
  EXPECT_EQ(ProofBook::load(files::FileLocation(folder.path())).size(), 0U) << "a directory";
}

TEST(ProofBook, ThatAnotherProcessHasSavedSinceKeepsItsProofsToo) {
  const Folder folder;
  const files::FileLocation location(folder / "book");
  EXPECT_TRUE(with_two_files(location).save());
  ProofBook here = ProofBook::load(location);
  ProofBook there = ProofBook::load(location);
  here.note("here", stamp_of_number(1), stamp_of_number(1), digest_of_number(1));
  here.forget("a");
  there.note("there", stamp_of_number(2), stamp_of_number(2), digest_of_number(2));
  there.note("b/\n", stamp_of_number(7), stamp_of_number(7), digest_of_number(7));
  EXPECT_TRUE(there.save());
  EXPECT_TRUE(here.save());
  ProofBook both = ProofBook::load(location);
  EXPECT_TRUE(both.find("here", stamp_of_number(1), stamp_of_number(1)));
  EXPECT_TRUE(both.find("there", stamp_of_number(2), stamp_of_number(2)));
  EXPECT_TRUE(both.find("b/\n", stamp_of_number(7), stamp_of_number(7))) << "the newer one";
  EXPECT_FALSE(both.find("a", stamp_of_number(1), stamp_of_number(2))) << "it was forgotten";
  EXPECT_EQ(both.size(), 3U);
}

TEST(ProofBook, ThatWasRemovedMeanwhileHasOnlyWhatIsNew) {
  const Folder folder;
  const files::FileLocation location(folder / "book");
  EXPECT_TRUE(with_two_files(location).save());
  ProofBook book = ProofBook::load(location);
  location.remove();
  book.note("new", stamp_of_number(1), stamp_of_number(1), digest_of_number(1));
  EXPECT_TRUE(book.save());
  EXPECT_EQ(ProofBook::load(location).size(), 1U);
}

TEST(ProofBook, IsLeftAloneWhileAnotherProcessIsSavingIt) {
  const Folder folder;
  const files::FileLocation location(folder / "book");
  const auto other = files::FileLocation(folder / "book.new").open(O_WRONLY | O_CREAT, Errc::local_write_failed);
  ASSERT_TRUE(other);
  ASSERT_EQ(::flock(other->number(), LOCK_EX), 0);
  EXPECT_EQ(with_two_files(location).save().error().code, Errc::out_of_resources);
  EXPECT_FALSE(location.exists());
}

TEST(ProofBook, TellsWhatWasOfNoUseSinceAnAge) {
  ProofBook book = with_two_files(kNowhere);
  book.grow_older();
  book.note("c", stamp_of_number(1), stamp_of_number(1), digest_of_number(1));
  EXPECT_TRUE(book.find("a", stamp_of_number(1), stamp_of_number(2)));
  EXPECT_EQ(book.unused_since(book.age(), 10), std::vector<std::string>{"b/\n"});
  EXPECT_EQ(ProofBook::parse(book.encode(), kNowhere)->unused_since(book.age(), 10), std::vector<std::string>{"b/\n"});
  std::set<std::string> told;
  for (int i = 0; i < 3; ++i) {
    book.grow_older();
    for (const std::string& path : book.unused_since(book.age(), 1)) told.insert(path);
  }
  EXPECT_EQ(told.size(), 3U) << "others each time";
}

TEST(ProofBook, ThatIsFullForgetsWhatWasOfUseLongAgo) {
  ProofBook book = ProofBook::load(kNowhere);
  const auto note = [&](std::size_t number) {
    book.note(std::to_string(number), stamp_of_number(1), stamp_of_number(1), digest_of_number(1));
  };
  const auto has = [&](std::size_t number) {
    return book.find(std::to_string(number), stamp_of_number(1), stamp_of_number(1)).has_value();
  };
  for (std::size_t number = 0; number <= ProofBook::kMaxEntries; ++number) note(number);
  EXPECT_FALSE(has(ProofBook::kMaxEntries)) << "all the others are as new";
  book.grow_older();
  EXPECT_TRUE(has(0));
  note(ProofBook::kMaxEntries);
  EXPECT_TRUE(has(ProofBook::kMaxEntries));
  EXPECT_TRUE(has(0)) << "it has just been of use";
  EXPECT_GT(book.size(), ProofBook::kMaxEntries / 2) << "some of the others go, not all";
}

TEST(ProofBook, TellsWhereItCannotBeWritten) {
  EXPECT_EQ(with_two_files(kNowhere).save().error().code, Errc::local_write_failed);
}

}  // namespace
}  // namespace udtcat::trees
