// SPDX-License-Identifier: Apache-2.0
#include "trees/proofs.hpp"

#include <filesystem>

#include "files/words.hpp"

namespace udtcat::trees {
namespace {

using files::bytes_of;
using files::Folder;

class BookOf : public testing::Test {
 protected:
  [[nodiscard]] files::FileTree tree(const char* name) const { return files::FileTree::make(folder / name).value(); }

  Folder folder;
  const std::string books = folder / "state/books";
};

TEST_F(BookOf, EachDirectoryIsItsOwn) {
  const auto book = book_of(tree("a"), books);
  ASSERT_TRUE(book);
  EXPECT_EQ(book_of(tree("a"), books).value().shown(), book->shown());
  EXPECT_NE(book_of(tree("b"), books).value().shown(), book->shown());
  std::filesystem::create_directory_symlink(folder / "a", folder / "link");
  EXPECT_EQ(book_of(tree("link"), books).value().shown(), book->shown()) << "it is the same directory";
}

TEST_F(BookOf, ADirectoryIsForItsOwnersEyes) {
  ASSERT_TRUE(book_of(tree("a"), books));
  EXPECT_EQ(std::filesystem::status(books).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(BookOf, ADirectoryIsNoneWhereNoneCanBeMade) {
  folder.write("state", bytes_of("no directory"));
  EXPECT_FALSE(book_of(tree("a"), books));
}

}  // namespace
}  // namespace udtcat::trees
