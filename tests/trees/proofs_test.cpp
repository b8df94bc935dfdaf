// SPDX-License-Identifier: Apache-2.0
#include "trees/proofs.hpp"

#include <chrono>
#include <filesystem>

#include "files/folder.hpp"
#include "support/run_until.hpp"

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

/// A receiver's directory, and what transfers into it remember.
class Proving : public BookOf {
 protected:
  Proving() {
    for (const char* name : {"d/a", "d/b", "c"}) {
      std::filesystem::create_directories(folder / "in/d");
      folder.write(std::string("in/") + name, bytes_of(name));
      // Long before now, so that each change since is seen.
      std::filesystem::last_write_time((folder / "in/") + name,
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
  }
  [[nodiscard]] Proofs transfer(Proofs::Use use = {}) const { return Proofs(book, std::move(use)); }
  /// Notes the file as proved.
  void prove(Proofs& proofs, const std::string& path) {
    const auto status = destination.look(path);
    ASSERT_TRUE(status && *status);
    std::vector<Proved> later{{path, {}, files::Digest(), **status}};
    const auto deadline = std::chrono::steady_clock::now() + test::kWatchdog;
    while (!later.empty() && std::chrono::steady_clock::now() < deadline) later = proofs.note(later, destination);
    ASSERT_TRUE(later.empty()) << "its file system tells of no change";
  }
  [[nodiscard]] bool finds(Proofs& proofs, const std::string& path) {
    const auto location = destination.locate(path);
    const auto status = location ? of_name(location->look()) : tl::unexpected(location.error());
    if (!status || !*status) return false;
    Entry entry{.attributes = {}, .path = path, .stamp = Stamp(), .target = {}};
    entry.size_bytes = static_cast<std::uint64_t>((*status)->st_size);
    return proofs.find(entry, *location, **status).has_value();
  }
  [[nodiscard]] bool has_stamps() {
    const auto location = destination.locate("c");
    const auto status = location->look();
    const auto deadline = std::chrono::steady_clock::now() + 2 * kLately;
    while (std::chrono::steady_clock::now() < deadline)
      if (stamp_of(*location, **status)) return true;
    return false;
  }

  const files::FileTree in = files::FileTree::make(folder / "in").value();
  const std::optional<files::FileLocation> book = book_of(in, books);
  Placement placement{std::nullopt, [](const std::string& /*line*/) {}};
  Destination destination{in, Parts::open(in, "0", Parts::Held::refuse).value(), placement, false};
};

TEST_F(Proving, OfTransfersAtATimeIsInOneBook) {
  if (!has_stamps()) GTEST_SKIP() << "this file system tells of no change";
  Proofs first = transfer();
  Proofs second = transfer();
  prove(first, "c");
  EXPECT_TRUE(finds(second, "c"));
}

TEST_F(Proving, IsBelievedByNoTransferThatReadsAllAgain) {
  if (!has_stamps()) GTEST_SKIP() << "this file system tells of no change";
  {
    Proofs proofs = transfer({.is_believed = false});
    prove(proofs, "c");
    EXPECT_FALSE(finds(proofs, "c"));
    proofs.save();
  }
  Proofs proofs = transfer();
  EXPECT_TRUE(finds(proofs, "c")) << "what was proved was noted all the same";
}

TEST_F(Proving, OfNamesThatAreGoneIsForgotten) {
  if (!has_stamps()) GTEST_SKIP() << "this file system tells of no change";
  {
    Proofs proofs = transfer();
    for (const char* name : {"d/a", "d/b", "c"}) prove(proofs, name);
    proofs.save();
  }
  std::filesystem::remove_all(folder / "in/d");
  folder.write("in/d", bytes_of("no directory"));
  {
    Proofs proofs = transfer();
    proofs.forget_what_is_gone(destination, 10);
    EXPECT_TRUE(finds(proofs, "c")) << "it is there, though it has not come again";
    proofs.save();
  }
  EXPECT_EQ(ProofBook::load(*book).size(), 1U);
}

}  // namespace
}  // namespace udtcat::trees
