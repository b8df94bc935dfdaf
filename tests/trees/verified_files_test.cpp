// SPDX-License-Identifier: Apache-2.0
#include "trees/verified_files.hpp"

#include <chrono>
#include <filesystem>

#include "files/folder.hpp"
#include "support/run_until.hpp"

namespace udtcat::trees {
namespace {

using files::bytes_of;
using files::Folder;

class CacheLocation : public testing::Test {
 protected:
  [[nodiscard]] files::FileTree tree(const char* name) const { return files::FileTree::make(folder / name).value(); }

  Folder folder;
  const std::string caches = folder / "state/caches";
};

TEST_F(CacheLocation, DiffersByDirectory) {
  const auto cache = cache_of(tree("a"), caches);
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache_of(tree("a"), caches).value().shown(), cache->shown());
  EXPECT_NE(cache_of(tree("b"), caches).value().shown(), cache->shown());
  std::filesystem::create_directory_symlink(folder / "a", folder / "link");
  EXPECT_EQ(cache_of(tree("link"), caches).value().shown(), cache->shown()) << "it is the same directory";
}

TEST_F(CacheLocation, IsPrivateToItsOwner) {
  ASSERT_TRUE(cache_of(tree("a"), caches));
  EXPECT_EQ(std::filesystem::status(caches).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(CacheLocation, IsAbsentWhereNoDirectoryCanBeMade) {
  folder.write("state", bytes_of("no directory"));
  EXPECT_FALSE(cache_of(tree("a"), caches));
}

/// A receiver's directory, and what transfers into it remember.
class VerifiedFilesTest : public CacheLocation {
 protected:
  VerifiedFilesTest() {
    for (const char* name : {"d/a", "d/b", "c"}) {
      std::filesystem::create_directories(folder / "in/d");
      folder.write(std::string("in/") + name, bytes_of(name));
      // Long before now, so that each change since is seen.
      std::filesystem::last_write_time((folder / "in/") + name,
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
  }
  [[nodiscard]] VerifiedFiles transfer(VerifiedFiles::Use use = {}) const { return {cache, std::move(use)}; }
  /// Notes the file as proved.
  void prove(VerifiedFiles& verified_files, const std::string& path) {
    const auto status = destination.look(path);
    ASSERT_TRUE(status && *status);
    std::vector<VerifiedFile> later{{path, {}, files::Digest(), **status}};
    const auto deadline = std::chrono::steady_clock::now() + test::kWatchdog;
    while (!later.empty() && std::chrono::steady_clock::now() < deadline)
      later = verified_files.note(later, destination);
    ASSERT_TRUE(later.empty()) << "its file system tells of no change";
  }
  [[nodiscard]] bool finds(VerifiedFiles& verified_files, const std::string& path) {
    const auto location = destination.locate(path);
    const auto status = location ? of_name(location->look()) : tl::unexpected(location.error());
    if (!status || !*status) return false;
    Entry entry{.attributes = {}, .path = path, .fingerprint = Fingerprint(), .target = {}};
    entry.size_bytes = static_cast<std::uint64_t>((*status)->st_size);
    return verified_files.find(entry, *location, **status).has_value();
  }
  [[nodiscard]] bool has_fingerprints() {
    const auto location = destination.locate("c");
    const auto status = location->look();
    const auto deadline = std::chrono::steady_clock::now() + 2 * kLately;
    while (std::chrono::steady_clock::now() < deadline)
      if (fingerprint_of(*location, **status)) return true;
    return false;
  }

  const files::FileTree in = files::FileTree::make(folder / "in").value();
  const std::optional<files::FileLocation> cache = cache_of(in, caches);
  WrittenNames written{std::nullopt, std::nullopt, [](const std::string& /*line*/) {}};
  Destination destination{in, PartialFiles::open(in, "0").value(), written, false, [] { return false; }};
};

TEST_F(VerifiedFilesTest, OfTransfersAtATimeAreInOneCache) {
  if (!has_fingerprints()) GTEST_SKIP() << "this file system tells of no change";
  VerifiedFiles first = transfer();
  VerifiedFiles second = transfer();
  prove(first, "c");
  EXPECT_TRUE(finds(second, "c"));
}

TEST_F(VerifiedFilesTest, AreReadAgainOnRequest) {
  if (!has_fingerprints()) GTEST_SKIP() << "this file system tells of no change";
  {
    VerifiedFiles verified_files = transfer({.is_trusted = false});
    prove(verified_files, "c");
    EXPECT_FALSE(finds(verified_files, "c"));
    verified_files.save();
  }
  VerifiedFiles verified_files = transfer();
  EXPECT_TRUE(finds(verified_files, "c")) << "what was proved was noted all the same";
}

TEST_F(VerifiedFilesTest, AreForgottenOnceTheirNamesAreGone) {
  if (!has_fingerprints()) GTEST_SKIP() << "this file system tells of no change";
  {
    VerifiedFiles verified_files = transfer();
    for (const char* name : {"d/a", "d/b", "c"}) prove(verified_files, name);
    verified_files.save();
  }
  std::filesystem::remove_all(folder / "in/d");
  folder.write("in/d", bytes_of("no directory"));
  {
    VerifiedFiles verified_files = transfer();
    verified_files.forget_what_is_gone(destination, 10);
    EXPECT_TRUE(finds(verified_files, "c")) << "it is there, though it has not come again";
    verified_files.save();
  }
  const HashCache saved = HashCache::load(*cache);
  EXPECT_EQ(saved.unused_since(saved.age() + 1, 2).size(), 1U);
}

}  // namespace
}  // namespace udtcat::trees
