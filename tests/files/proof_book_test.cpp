// SPDX-License-Identifier: Apache-2.0
#include "files/proof_book.hpp"

#include "files/words.hpp"
#include "support/spec_example.hpp"

namespace udtcat::files {
namespace {

Stamp stamp_of_number(int number) {
  Stamp stamp{};
  stamp.fill(static_cast<std::byte>(number));
  return stamp;
}
Digest digest_of_number(int number) {
  Digest digest{};
  digest.fill(static_cast<std::byte>(number));
  return digest;
}

const FileLocation kNowhere("/no/such/place/book");

ProofBook with_two_files(const FileLocation& location) {
  ProofBook book = ProofBook::load(location);
  book.note("a", stamp_of_number(1), stamp_of_number(2), digest_of_number(3));
  book.note("b/\n", stamp_of_number(4), stamp_of_number(5), digest_of_number(6));
  return book;
}

/// `content` with the hash that it should have behind it.
Bytes with_hash(Bytes content) {
  const Digest digest = digest_of({content});
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

TEST(ProofBook, ComesBackAsItWasSaved) {
  const Folder folder;
  const FileLocation location(folder / "book");
  EXPECT_EQ(ProofBook::load(location).size(), 0U) << "before it was saved";
  const ProofBook book = with_two_files(location);
  EXPECT_TRUE(ProofBook::load(location).save());
  EXPECT_TRUE(book.save());
  EXPECT_FALSE(folder.has("book.new"));
  const ProofBook loaded = ProofBook::load(location);
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
  const FileLocation location(folder / "book");
  ProofBook book = ProofBook::load(location);
  for (int i = 0; i < 1'000; ++i)
    book.note(std::to_string(i) + std::string(3'000, 'x'), stamp_of_number(1), stamp_of_number(2), digest_of_number(i));
  EXPECT_TRUE(book.save());
  EXPECT_EQ(ProofBook::load(location).encode(), book.encode());
}

TEST(ProofBook, NotesOnlyWhatItCanSave) {
  ProofBook book = with_two_files(kNowhere);
  book.note("", stamp_of_number(1), stamp_of_number(2), digest_of_number(3));
  book.note(std::string(ProofBook::kMaxPathBytes + 1, 'x'), stamp_of_number(1), stamp_of_number(2), {});
  EXPECT_EQ(book.size(), 2U);
  book.note(std::string(ProofBook::kMaxPathBytes, 'x'), stamp_of_number(1), stamp_of_number(2), {});
  EXPECT_EQ(ProofBook::parse(book.encode(), kNowhere)->size(), 3U);
}

TEST(ProofBook, ThatIsCutIsNone) {
  const auto bytes = with_two_files(kNowhere).encode();
  const std::span all(bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(ProofBook::parse(all.first(length), kNowhere)) << length;
    const auto hashed = with_hash({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
    if (length != bytes.size() - sizeof(Digest)) {
      EXPECT_FALSE(ProofBook::parse(hashed, kNowhere)) << length;
    }
  }
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

TEST(ProofBook, WithPathsOutOfOrderOrTwiceIsNone) {
  const std::string head = std::string("udtcat proofs 1\n") + std::string(7, '\0') + '\2';
  const auto entry = [](char name) { return std::string(64, 'x') + std::string("\0\1", 2) + name; };
  EXPECT_TRUE(ProofBook::parse(with_hash(bytes_of(head + entry('a') + entry('b'))), kNowhere));
  EXPECT_FALSE(ProofBook::parse(with_hash(bytes_of(head + entry('b') + entry('a'))), kNowhere));
  EXPECT_FALSE(ProofBook::parse(with_hash(bytes_of(head + entry('a') + entry('a'))), kNowhere));
  EXPECT_FALSE(ProofBook::parse(with_hash(bytes_of(head + entry('a'))), kNowhere));
  EXPECT_FALSE(ProofBook::parse(with_hash(bytes_of(head + entry('a') + entry('b') + "c")), kNowhere));
}

TEST(ProofBook, ThatIsDamagedIsEmptyAndCanBeSavedAgain) {
  const Folder folder;
  const FileLocation location(folder / "book");
  folder.write("book", bytes_of("udtcat proofs 1\nand no more"));
  EXPECT_EQ(ProofBook::load(location).size(), 0U);
  EXPECT_TRUE(with_two_files(location).save());
  EXPECT_EQ(ProofBook::load(location).size(), 2U);
  EXPECT_EQ(ProofBook::load(FileLocation(folder.path())).size(), 0U) << "a directory";
}

TEST(ProofBook, TellsWhereItCannotBeWritten) {
  EXPECT_EQ(with_two_files(kNowhere).save().error().code, Errc::local_write_failed);
}

}  // namespace
}  // namespace udtcat::files
