// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/served_root.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "gridftp/disk/block_store.hpp"
#include "gridftp/support.hpp"
#include "lib/core/try.hpp"
#include "support/failing_calls.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A served directory, and beside it what must not be seen.
class ServedRoots : public testing::Test {
 protected:
  ServedRoots() {
    std::filesystem::create_directories(served / "inside");
    std::ofstream(served / "file") << "within";
    std::ofstream(served / "inside" / "deep") << "deep";
    folder.write("secret", bytes_of("secret"));
    std::filesystem::create_directory(folder / "outside");
    std::filesystem::create_symlink(folder / "secret", served / "absolute");
    std::filesystem::create_symlink("../secret", served / "relative");
    std::filesystem::create_symlink("../outside", served / "directory");
    std::filesystem::create_symlink("inside/deep", served / "harmless");
    std::filesystem::create_symlink("/inside", served / "rooted");
    std::filesystem::create_symlink("loop", served / "loop");
  }
  [[nodiscard]] std::string read(const std::string& path) const {
    const auto file = root.open_to_read(path);
    if (!file) return "";
    std::string text(100, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(file->number(), text.data(), text.size()))));
    return text;
  }
  [[nodiscard]] std::size_t names_in_root() const {
    return static_cast<std::size_t>(std::ranges::distance(std::filesystem::directory_iterator(served)));
  }
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) const {
    UDTCAT_TRY(const auto source, root.location_of(from));
    UDTCAT_TRY(const auto target, root.location_of(to));
    return source.rename_to(target);
  }

  Folder folder;
  const std::filesystem::path served = folder / "served";
  const ServedRoot root = [this] {
    std::filesystem::create_directory(folder / "served");
    return ServedRoot::open(folder / "served").value();
  }();
};

TEST_F(ServedRoots, ShowWhatIsInThem) {
  EXPECT_EQ(read("/file"), "within");
  EXPECT_EQ(read("/inside/deep"), "deep");
  EXPECT_EQ(read("/harmless"), "deep");
  EXPECT_EQ(read("/rooted/deep"), "deep") << "a link from the root is one from theirs";
}

TEST_F(ServedRoots, ShowNothingOutside) {
  for (const char* path : {"/../secret", "../secret", "/inside/../../secret", "/absolute", "/relative", "/directory/x",
                           "/../../../../etc/passwd", "/proc/self/root/etc/passwd", "/loop"}) {
    EXPECT_EQ(read(path), "") << path;
    EXPECT_FALSE(root.facts_of(path)) << path;
  }
  EXPECT_FALSE(root.list("/directory"));
}

TEST_F(ServedRoots, CreateNothingOutside) {
  EXPECT_FALSE(root.make_directory("/directory/new"));
  EXPECT_FALSE(root.location_of("/directory/new"));
  EXPECT_FALSE(rename("/file", "/directory/file"));
  EXPECT_TRUE(root.make_directory("/../../above")) << "\"..\" ends at the root";
  EXPECT_TRUE(std::filesystem::exists(served / "above") && !folder.has("above"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "outside"));
}

TEST_F(ServedRoots, ReplaceALinkAndNotWhatItLeadsTo) {
  const auto location = root.location_of("/absolute");
  ASSERT_TRUE(location);
  EXPECT_FALSE(location->open(O_WRONLY | O_TRUNC, Errc::local_write_failed));
  EXPECT_TRUE(rename("/file", "/absolute"));
  EXPECT_TRUE(root.remove("/relative", false));
  EXPECT_TRUE(folder.read("secret") == bytes_of("secret"));
}

TEST_F(ServedRoots, NameThePathOfThePeerInErrors) {
  const auto none = root.open_to_read("/none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::local_read_failed);
  EXPECT_THAT(none.error().message(), HasSubstr("/none"));
  EXPECT_THAT(none.error().message(), Not(HasSubstr(folder.path().string())));
}

TEST_F(ServedRoots, ListNamesInOrder) {
  auto walk = root.list("/");
  ASSERT_TRUE(walk);
  const auto all = walk->next(100);
  ASSERT_TRUE(all);
  EXPECT_TRUE(walk->next(100).value().empty());
  std::vector<std::string> names;
  for (const FileFacts& each : *all) names.push_back(each.name);
  EXPECT_THAT(
      names, testing::ElementsAre("absolute", "directory", "file", "harmless", "inside", "loop", "relative", "rooted"));
  EXPECT_EQ((*all)[0].kind, FileFacts::Kind::link);
  EXPECT_EQ((*all)[2].kind, FileFacts::Kind::file);
  EXPECT_EQ((*all)[2].size_bytes, 6U);
  EXPECT_FALSE(root.list("/file"));
}

TEST_F(ServedRoots, MakeRemoveAndRename) {
  EXPECT_TRUE(root.make_directory("/new/"));
  EXPECT_FALSE(root.make_directory("/new"));
  EXPECT_TRUE(rename("/file", "/new/name"));
  EXPECT_EQ(read("/new/name"), "within");
  EXPECT_FALSE(root.remove("/new", true)) << "it is not empty";
  EXPECT_FALSE(root.remove("/new", false)) << "it is a directory";
  EXPECT_TRUE(root.remove("/new/name", false));
  EXPECT_TRUE(root.remove("/new", true));
}

TEST_F(ServedRoots, AreNeitherRemovedNorReplaced) {
  for (const char* path : {"/", "", ".", "/.", "/..", "//", "/inside/.."}) {
    EXPECT_FALSE(root.remove(path, true)) << path;
    EXPECT_FALSE(root.location_of(path)) << path;
    EXPECT_FALSE(rename("/inside", path)) << path;
  }
  EXPECT_TRUE(std::filesystem::exists(served / "inside"));
}

TEST_F(ServedRoots, DoNotWaitForTheOtherEndOfAPipe) {
  ASSERT_EQ(::mkfifo((served / "pipe").c_str(), 0600), 0);
  auto opened = root.open_to_read("/pipe");
  ASSERT_TRUE(opened);
  EXPECT_FALSE(BlockStore::of(std::move(*opened), "/pipe"));
  EXPECT_FALSE(BlockStore::open_to_write(root.location_of("/pipe").value()));
  EXPECT_EQ(root.facts_of("/pipe").value().kind, FileFacts::Kind::other);
}

TEST_F(ServedRoots, TakeNamesOfAnyBytes) {
  const std::string name = "/\xff\x01 -rf *";
  EXPECT_TRUE(root.make_directory(name));
  EXPECT_TRUE(root.facts_of(name));
  EXPECT_FALSE(root.make_directory("/" + std::string(5'000, 'x')));
  EXPECT_FALSE(root.facts_of("/" + std::string(100'000, 'x')));
}

TEST(ServedRoot, IsADirectory) {
  const Folder folder;
  EXPECT_EQ(ServedRoot::open(folder / "none").error().code, Errc::bad_argument);
  EXPECT_EQ(ServedRoot::open(folder.write("file", {})).error().code, Errc::bad_argument);
}

TEST_F(ServedRoots, ListLinksAsWhatTheyLeadToInside) {
  std::map<std::string, FileFacts> listed;
  auto walk = root.list("/").value();
  const auto all = walk.next(100).value();
  for (const FileFacts& facts : all) listed[facts.name] = facts;
  EXPECT_EQ(listed["harmless"].kind, FileFacts::Kind::file);
  EXPECT_EQ(listed["harmless"].size_bytes, 4U);
  EXPECT_EQ(listed["harmless"].letter, '-');
  EXPECT_EQ(listed["rooted"].kind, FileFacts::Kind::directory);
  for (const char* nowhere : {"absolute", "relative", "directory", "loop"})
    EXPECT_EQ(listed[nowhere].kind, FileFacts::Kind::link) << nowhere;
  EXPECT_EQ(listed["relative"].leads_to, "../secret");
}

TEST_F(ServedRoots, CountNamesThatCannotBeLookedAt) {
  for (const int error : {ENOTCONN, EIO}) {
    auto walk = root.list("/").value();
    std::thread([&] {
      test::fail_calls({SYS_newfstatat}, error);
      EXPECT_TRUE(walk.next(100).value().empty());
    }).join();
    EXPECT_EQ(walk.without_status(), names_in_root());
    EXPECT_EQ(walk.errno_value(), error);
  }
}

TEST_F(ServedRoots, CountLinksToWhatCannotBeLookedAt) {
  auto walk = root.list("/").value();
  std::size_t links = 0;
  std::thread([&] {
    test::fail_calls({SYS_openat2}, EIO);
    const auto listed = walk.next(100).value();
    links = static_cast<std::size_t>(
        std::ranges::count(listed, FileFacts::Kind::link, [](const FileFacts& each) { return each.kind; }));
  }).join();
  EXPECT_EQ(links, 0U) << "it is not known to lead nowhere";
  EXPECT_GT(walk.without_status(), 0U);
  EXPECT_EQ(walk.errno_value(), EIO);
}

TEST_F(ServedRoots, CountNoNameThatHasGoneMeanwhile) {
  auto walk = root.list("/").value();
  std::thread([&] {
    test::fail_calls({SYS_newfstatat}, ENOENT);
    EXPECT_TRUE(walk.next(100).value().empty());
  }).join();
  EXPECT_EQ(walk.without_status(), 0U);
}

TEST_F(ServedRoots, AreNotListedWhereTheHostCannotLookAtANameForNow) {
  for (const int error : {EMFILE, ENOMEM}) {
    auto of_all = root.list("/").value();
    auto of_links = root.list("/").value();
    std::thread([&] {
      test::fail_calls({SYS_openat2}, error);
      EXPECT_FALSE(of_links.next(100)) << error;
      test::fail_calls({SYS_newfstatat}, error);
      EXPECT_FALSE(of_all.next(100)) << error;
    }).join();
  }
}

TEST_F(ServedRoots, ListNoDirectoryThatIsInItself) {
  std::filesystem::create_symlink("..", served / "inside" / "up");
  std::filesystem::create_symlink(".", served / "inside" / "here");
  const auto kind_of = [this](const std::string& directory, const std::string& name) {
    auto walk = root.list(directory).value();
    const auto all = walk.next(100).value();
    for (const FileFacts& facts : all)
      if (facts.name == name) return facts.kind;
    return FileFacts::Kind::other;
  };
  EXPECT_EQ(kind_of("/inside", "up"), FileFacts::Kind::link);
  EXPECT_EQ(kind_of("/inside", "here"), FileFacts::Kind::link);
  EXPECT_EQ(kind_of("/rooted", "here"), FileFacts::Kind::link) << "by whatever name one comes";
}

}  // namespace
}  // namespace udtcat::gridftp
