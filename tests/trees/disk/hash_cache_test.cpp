// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/hash_cache.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <fstream>
#include <set>
#include <thread>

#include "support/failing_calls.hpp"
#include "support/spec_example.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

Fingerprint fingerprint_of_number(int number) {
  Fingerprint fingerprint{};
  fingerprint.fill(static_cast<std::byte>(number));
  return fingerprint;
}
files::Digest digest_of_number(int number) {
  files::Digest digest{};
  digest.fill(static_cast<std::byte>(number));
  return digest;
}

const files::FileLocation kNowhere("/no/such/place/cache");

HashCache with_two_files(const files::FileLocation& location) {
  HashCache cache = HashCache::load(location);
  cache.note("a", fingerprint_of_number(1), fingerprint_of_number(2), digest_of_number(3));
  cache.note("b/\n", fingerprint_of_number(4), fingerprint_of_number(5), digest_of_number(6));
  return cache;
}

std::size_t entries_in(const HashCache& cache) {
  return cache.unused_since(cache.age() + 1, HashCache::kMaxEntries).size();
}

std::uint64_t bytes_read_by_this_process() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  io >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

/// `content` with the hash that it should have behind it.
Bytes with_hash(Bytes content) {
  const files::Digest digest = files::digest_of({content});
  content.insert(content.end(), digest.begin(), digest.end());
  return content;
}

TEST(HashCache, FindsAFileByItsPathAndBothFingerprints) {
  HashCache cache = with_two_files(kNowhere);
  EXPECT_EQ(cache.find("a", fingerprint_of_number(1), fingerprint_of_number(2)), digest_of_number(3));
  EXPECT_FALSE(cache.find("a", fingerprint_of_number(0), fingerprint_of_number(2))) << "another source";
  EXPECT_FALSE(cache.find("a", fingerprint_of_number(1), fingerprint_of_number(0))) << "changed here";
  EXPECT_FALSE(cache.find("b", fingerprint_of_number(1), fingerprint_of_number(2)));
  cache.note("a", fingerprint_of_number(7), fingerprint_of_number(8), digest_of_number(9));
  EXPECT_FALSE(cache.find("a", fingerprint_of_number(1), fingerprint_of_number(2))) << "it has changed since";
  EXPECT_EQ(cache.find("a", fingerprint_of_number(7), fingerprint_of_number(8)), digest_of_number(9));
  cache.forget("a");
  cache.forget("a");
  EXPECT_FALSE(cache.find("a", fingerprint_of_number(7), fingerprint_of_number(8)));
  EXPECT_EQ(entries_in(cache), 1U);
}

TEST(HashCache, SurvivesASaveAndLoad) {
  const Folder folder;
  const files::FileLocation location(folder / "cache");
  EXPECT_EQ(entries_in(HashCache::load(location)), 0U) << "before it was saved";
  HashCache cache = with_two_files(location);
  EXPECT_TRUE(cache.save());
  EXPECT_FALSE(folder.has("cache.new"));
  HashCache loaded = HashCache::load(location);
  EXPECT_EQ(entries_in(loaded), 2U);
  EXPECT_EQ(loaded.find("b/\n", fingerprint_of_number(4), fingerprint_of_number(5)), digest_of_number(6));
  EXPECT_EQ(loaded.encode(), cache.encode());
  EXPECT_EQ(folder.read("cache"), cache.encode());
}

TEST(HashCache, EncodesAnEmptyOneAsSpecified) {
  EXPECT_EQ(HashCache::load(kNowhere).encode(), test::SpecExample("trees.md", "cache").bytes("empty"));
}

TEST(HashCache, LoadsMoreThanOnePiece) {
  const Folder folder;
  const files::FileLocation location(folder / "cache");
  HashCache cache = HashCache::load(location);
  for (int i = 0; i < 1'000; ++i)
    cache.note(std::to_string(i) + '/' + std::string(250, 'x'), fingerprint_of_number(1), fingerprint_of_number(2),
               digest_of_number(i));
  EXPECT_TRUE(cache.save());
  EXPECT_EQ(HashCache::load(location).encode(), cache.encode());
}

TEST(HashCache, AddsOnlyWhatItCanSave) {
  HashCache cache = with_two_files(kNowhere);
  for (const std::string& path : {std::string(), std::string("/a"), std::string("../a"), std::string(256, 'x')})
    cache.note(path, fingerprint_of_number(1), fingerprint_of_number(2), digest_of_number(3));
  EXPECT_EQ(entries_in(cache), 2U);
  cache.note(std::string(255, 'x') + "/x", fingerprint_of_number(1), fingerprint_of_number(2), {});
  EXPECT_EQ(entries_in(*HashCache::parse(cache.encode(), kNowhere)), 3U);
}

TEST(HashCache, RefusesEachTruncation) {
  const auto bytes = with_two_files(kNowhere).encode();
  const std::span all(bytes);
  std::size_t caches = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(HashCache::parse(all.first(length), kNowhere)) << length;
    if (HashCache::parse(with_hash({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}), kNowhere))
      ++caches;
  }
  EXPECT_EQ(caches, 3U) << "with its own hash, behind none, one and both of its entries";
}

TEST(HashCache, RefusesAnyChangedByte) {
  auto bytes = with_two_files(kNowhere).encode();
  for (std::byte& byte : bytes) {
    for (const int change : {1, 0x80, 0xff}) {
      byte ^= static_cast<std::byte>(change);
      EXPECT_FALSE(HashCache::parse(bytes, kNowhere)) << &byte - bytes.data();
      byte ^= static_cast<std::byte>(change);
    }
  }
}

TEST(HashCache, RefusesARepeatedOrImpossiblePath) {
  const auto entry = [](int shared, const std::string& rest) {
    return std::string(64, 'x') + std::string(5, '\0') + static_cast<char>(shared) + '\0' +
           static_cast<char>(rest.size()) + rest;
  };
  const auto is_cache = [](const std::string& entries) {
    const std::string head = std::string("udtcat proofs 2\n") + std::string(4, '\0');
    return HashCache::parse(with_hash(bytes_of(head + entries)), kNowhere).has_value();
  };
  EXPECT_TRUE(is_cache(entry(0, "a") + entry(1, "/b") + entry(2, "c") + entry(0, "b")));
  EXPECT_TRUE(is_cache(entry(0, "a/b") + entry(1, "")));
  EXPECT_FALSE(is_cache(entry(0, "a") + entry(0, "b") + entry(0, "a"))) << "twice";
  EXPECT_FALSE(is_cache(entry(0, "ab") + entry(0, "ac"))) << "they share more";
  EXPECT_FALSE(is_cache(entry(0, "a") + entry(2, "b"))) << "there is less before it";
  EXPECT_FALSE(is_cache(entry(0, "a") + "b"));
  for (const char* path : {"", "/a", "a/", "a//b", "..", "a/../b"}) EXPECT_FALSE(is_cache(entry(0, path))) << path;
  std::string of_the_future = entry(0, "a");
  of_the_future[64 + 3] = '\1';
  EXPECT_FALSE(is_cache(of_the_future));
}

TEST(HashCache, StartsEmptyWhereTheFileIsDamaged) {
  const Folder folder;
  const files::FileLocation location(folder / "cache");
  folder.write("cache", bytes_of("udtcat proofs 2\nand no more"));
  EXPECT_EQ(entries_in(HashCache::load(location)), 0U);
  EXPECT_TRUE(with_two_files(location).save());
  EXPECT_EQ(entries_in(HashCache::load(location)), 2U);
  EXPECT_EQ(entries_in(HashCache::load(files::FileLocation(folder.path()))), 0U) << "a directory";
}

/// Proves: trees.cache-limit
TEST(HashCache, StartsEmptyWhereTheFileIsLargerThanItMayBe) {
  EXPECT_EQ(HashCache::kMaxBytes, 384U << 20);
  const Folder folder;
  HashCache cache = with_two_files(files::FileLocation(folder / "cache"));
  ASSERT_TRUE(cache.save());
  std::filesystem::resize_file(folder / "cache", HashCache::kMaxBytes + 1);
  const std::uint64_t read = bytes_read_by_this_process();
  EXPECT_EQ(entries_in(HashCache::load(files::FileLocation(folder / "cache"))), 0U);
  EXPECT_LT(bytes_read_by_this_process() - read, 1U << 20) << "it is not looked at";
}

TEST(HashCache, KeepsWhatAnotherProcessHasSavedSince) {
  const Folder folder;
  const files::FileLocation location(folder / "cache");
  EXPECT_TRUE(with_two_files(location).save());
  HashCache here = HashCache::load(location);
  HashCache there = HashCache::load(location);
  here.note("here", fingerprint_of_number(1), fingerprint_of_number(1), digest_of_number(1));
  here.forget("a");
  there.note("there", fingerprint_of_number(2), fingerprint_of_number(2), digest_of_number(2));
  there.note("b/\n", fingerprint_of_number(7), fingerprint_of_number(7), digest_of_number(7));
  EXPECT_TRUE(there.save());
  EXPECT_TRUE(here.save());
  HashCache both = HashCache::load(location);
  EXPECT_TRUE(both.find("here", fingerprint_of_number(1), fingerprint_of_number(1)));
  EXPECT_TRUE(both.find("there", fingerprint_of_number(2), fingerprint_of_number(2)));
  EXPECT_TRUE(both.find("b/\n", fingerprint_of_number(7), fingerprint_of_number(7))) << "the newer one";
  EXPECT_FALSE(both.find("a", fingerprint_of_number(1), fingerprint_of_number(2))) << "it was forgotten";
  EXPECT_EQ(entries_in(both), 3U);
}

TEST(HashCache, SavesOnlyNewEntriesWhereItsFileWasRemoved) {
  const Folder folder;
  const files::FileLocation location(folder / "cache");
  EXPECT_TRUE(with_two_files(location).save());
  HashCache cache = HashCache::load(location);
  location.remove();
  cache.note("new", fingerprint_of_number(1), fingerprint_of_number(1), digest_of_number(1));
  EXPECT_TRUE(cache.save());
  EXPECT_EQ(entries_in(HashCache::load(location)), 1U);
}

TEST(HashCache, IsNotSavedWhileAnotherProcessSaves) {
  const Folder folder;
  const files::FileLocation location(folder / "cache");
  const auto other = files::FileLocation(folder / "cache.new").open(O_WRONLY | O_CREAT, Errc::local_write_failed);
  ASSERT_TRUE(other);
  ASSERT_EQ(::flock(other->number(), LOCK_EX), 0);
  EXPECT_EQ(with_two_files(location).save().error().code, Errc::out_of_resources);
  EXPECT_FALSE(location.exists());
}

TEST(HashCache, ListsEntriesThatWereNotUsedSinceAnAge) {
  HashCache cache = with_two_files(kNowhere);
  cache.grow_older();
  cache.note("c", fingerprint_of_number(1), fingerprint_of_number(1), digest_of_number(1));
  EXPECT_TRUE(cache.find("a", fingerprint_of_number(1), fingerprint_of_number(2)));
  EXPECT_EQ(cache.unused_since(cache.age(), 10), std::vector<std::string>{"b/\n"});
  EXPECT_EQ(HashCache::parse(cache.encode(), kNowhere)->unused_since(cache.age(), 10),
            std::vector<std::string>{"b/\n"});
  std::set<std::string> told;
  for (int i = 0; i < 3; ++i) {
    cache.grow_older();
    for (const std::string& path : cache.unused_since(cache.age(), 1)) told.insert(path);
  }
  EXPECT_EQ(told.size(), 3U) << "others each time";
}

/// Proves: trees.cache-limit
TEST(HashCache, EvictsTheLeastRecentlyUsedWhenFull) {
  HashCache cache = HashCache::load(kNowhere);
  const auto note = [&](std::size_t number) {
    cache.note(std::to_string(number), fingerprint_of_number(1), fingerprint_of_number(1), digest_of_number(1));
  };
  const auto has = [&](std::size_t number) {
    return cache.find(std::to_string(number), fingerprint_of_number(1), fingerprint_of_number(1)).has_value();
  };
  EXPECT_EQ(HashCache::kMaxEntries, 2'097'152U);
  for (std::size_t number = 0; number <= HashCache::kMaxEntries; ++number) note(number);
  EXPECT_FALSE(has(HashCache::kMaxEntries)) << "all the others are as new";
  cache.grow_older();
  EXPECT_TRUE(has(0));
  note(HashCache::kMaxEntries);
  EXPECT_TRUE(has(HashCache::kMaxEntries));
  EXPECT_TRUE(has(0)) << "it has just been of use";
  EXPECT_GT(entries_in(cache), HashCache::kMaxEntries / 2) << "some of the others go, not all";
}

TEST(HashCache, ReportsAFileThatCannotBeWritten) {
  EXPECT_EQ(with_two_files(kNowhere).save().error().code, Errc::local_write_failed);
}

TEST(HashCache, IsNotSavedForEverWhereItsFileCannotBeFoundAgain) {
  const Folder folder;
  HashCache cache = with_two_files(files::FileLocation(folder / "cache"));
  std::thread([&] {
    test::fail_calls({SYS_newfstatat}, EACCES);
    EXPECT_EQ(cache.save().error().code, Errc::local_write_failed);
  }).join();
  EXPECT_TRUE(cache.save());
}

}  // namespace
}  // namespace udtcat::trees
