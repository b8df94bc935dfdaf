// SPDX-License-Identifier: Apache-2.0
#include "trees/verify.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files/folder.hpp"
#include "support/ordinary_user.hpp"
#include "trees/disk/tree_hash.hpp"

namespace udtcat::trees {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The hash of a file without holes, by its definition.
files::Digest hash_of_content(std::span<const std::byte> content) {
  TreeHash hash;
  for (std::size_t offset = 0; offset < content.size(); offset += kChunkBytes)
    hash.add(hash_of_leaf(content.subspan(offset, std::min(kChunkBytes, content.size() - offset))));
  return hash.root();
}

class Verify : public testing::Test {
 protected:
  /// An entry for a name as it is now.
  [[nodiscard]] ManifestEntry entry_of(const std::string& path, EntryKind kind) const {
    struct stat status {};
    EXPECT_EQ(::lstat((root + '/' + path).c_str(), &status), 0) << path;
    ManifestEntry entry{.kind = kind, .path = path};
    entry.mode = status.st_mode & 07777U;
    entry.changed = changed_time_of(status);
    if (kind == EntryKind::file) {
      const auto content = folder.read(path);
      entry.size_bytes = content.size();
      entry.digest = hash_of_content(content);
    }
    if (kind == EntryKind::symbolic_link) entry.target = std::filesystem::read_symlink(root + '/' + path);
    entry.major = major(status.st_rdev);
    entry.minor = minor(status.st_rdev);
    return entry;
  }
  [[nodiscard]] ManifestEntry file(const std::string& path, const files::Bytes& content) const {
    folder.write(path, content);
    return entry_of(path, EntryKind::file);
  }

  /// Changes a file's content, and nothing else that a manifest knows.
  void change(const std::string& path, off_t offset) const {
    struct stat status {};
    const bridge::Descriptor open(::open((root + '/' + path).c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::fstat(open.number(), &status), 0);
    ASSERT_EQ(::pwrite(open.number(), "!", 1, offset), 1);
    const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
    ASSERT_EQ(::futimens(open.number(), times.data()), 0);
  }

  /// "path: text", for each difference; `done` and `progress` are of the last run.
  std::vector<std::string> differences(const std::vector<ManifestEntry>& entries) {
    const files::FileLocation location(beside / "manifest");
    auto writer = ManifestWriter::create(location).value();
    for (const ManifestEntry& entry : entries) EXPECT_TRUE(writer.add(entry));
    EXPECT_TRUE(writer.finish());
    std::vector<std::string> lines;
    auto reader = ManifestReader::open(location).value();
    const auto tree = files::FileTree::open(root).value();
    std::optional<test::OrdinaryUser> user;
    if (is_ordinary) user.emplace();
    done = verify(reader, tree,
                  {[&](const std::string& path, const std::string& text) { lines.push_back(path + ": " + text); },
                   [&](const std::string& path, const Verification& so_far) { progress[path] = so_far.bytes; },
                   [&] { return stops_after-- == 0; }});
    return lines;
  }

  files::Folder folder;
  files::Folder beside;
  std::string root = folder.path();
  Result<Verification> done;
  std::map<std::string, std::uint64_t> progress;
  int stops_after = -1;
  bool is_ordinary = false;
};

TEST_F(Verify, FindsNothingWhereAllIsAsItWas) {
  std::filesystem::create_directory(folder / "dir");
  std::filesystem::create_symlink("/no/such place", folder / "link");
  const auto first = file("dir/a b\n", files::random_bytes(2'500'000));
  const auto empty = file("empty", {});
  std::filesystem::create_hard_link(folder / "empty", folder / "same");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0640), 0);
  EXPECT_THAT(differences({entry_of(".", EntryKind::directory),
                           entry_of("dir", EntryKind::directory),
                           first,
                           empty,
                           entry_of("link", EntryKind::symbolic_link),
                           {.kind = EntryKind::hard_link, .path = "same", .target = "empty"},
                           entry_of("pipe", EntryKind::fifo)}),
              IsEmpty());
  EXPECT_EQ(done->entries, 7U);
  EXPECT_EQ(done->differing, 0U);
  EXPECT_EQ(done->bytes, 2'500'000U);
  EXPECT_EQ(progress["dir/a b\n"], 2'500'000U);
}

TEST_F(Verify, SeesAByteThatHasChangedInAnyChunk) {
  const auto whole = file("file", files::random_bytes(2'500'000));
  for (const off_t offset : {0, 1'048'576, 2'499'999}) {
    folder.write("file", files::random_bytes(2'500'000));
    auto now = entry_of("file", EntryKind::file);
    EXPECT_EQ(now.digest, whole.digest);
    change("file", offset);
    EXPECT_THAT(differences({now}), ElementsAre("file: its content has changed")) << offset;
  }
  EXPECT_EQ(done->differing, 1U);
}

TEST_F(Verify, ReportsAFileLongerThanItsSize) {
  root = "/proc/sys/kernel";
  auto entry = entry_of("ostype", EntryKind::file);
  EXPECT_THAT(differences({entry}), testing::Contains(testing::HasSubstr("it has more in it than its size tells")));
}

TEST_F(Verify, TakesAHoleForItsZeros) {
  auto content = files::Bytes(5 * kChunkBytes + 10);
  content[2 * kChunkBytes + 1] = std::byte{'!'};
  const auto dense = file("dense", content);
  folder.write("sparse", files::Bytes());
  std::filesystem::resize_file(folder / "sparse", content.size());
  change("sparse", 2 * kChunkBytes + 1);
  auto sparse = entry_of("sparse", EntryKind::file);
  sparse.digest = dense.digest;
  EXPECT_THAT(differences({dense, sparse}), IsEmpty());
  change("sparse", 4 * kChunkBytes);
  EXPECT_THAT(differences({sparse}), ElementsAre("sparse: its content has changed"));
}

TEST_F(Verify, ReportsEachDifference) {
  const auto is = file("file", files::bytes_of("abc"));
  auto was = is;
  was.mode = 0755;
  was.changed = {-1, 5};
  was.size_bytes = 4;
  const auto lines = differences({was});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "file: its mode is 0600, not 0755");
  EXPECT_THAT(lines[1], testing::EndsWith(", not 1969-12-31 23:59:59.000000005 UTC"));
  EXPECT_EQ(lines[2], "file: its size is 3 bytes, not 4");
  EXPECT_EQ(done->differing, 1U) << "one entry";
  EXPECT_EQ(done->bytes, 0U) << "its size says all";
}

TEST_F(Verify, ReportsMissingNames) {
  const auto present = file("present", {});
  EXPECT_THAT(
      differences({{.path = "a"}, present, {.path = "b/c"}, {.path = "present/d"}}),
      ElementsAre("a: it is missing", "b/c: it is missing", "present/d: it cannot be looked at: not a directory"));
  EXPECT_EQ(done->entries, 4U);
  EXPECT_EQ(done->differing, 3U);
}

TEST_F(Verify, ReportsAnotherKindOfFile) {
  auto entry = file("file", {});
  entry.kind = EntryKind::directory;
  std::filesystem::create_directory(folder / "dir");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0640), 0);
  EXPECT_THAT(differences({entry, {.path = "dir"}, {.path = "pipe"}}),
              ElementsAre("file: it is a file, not a directory", "dir: it is a directory, not a file",
                          "pipe: it is a FIFO, not a file"));
}

TEST_F(Verify, NeverLeavesTheTree) {
  beside.write("file", files::bytes_of("abc"));
  std::filesystem::create_symlink(beside / "file", folder / "link");
  std::filesystem::create_directory_symlink(beside.path(), folder / "dir");
  const auto lines = differences({{.path = "link"}, {.path = "dir/file"}});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "link: it is a symbolic link, not a file");
  EXPECT_THAT(lines[1], testing::StartsWith("dir/file: it cannot be looked at: "));
  EXPECT_EQ(done->bytes, 0U);
}

TEST_F(Verify, ComparesWhereALinkLeads) {
  std::filesystem::create_symlink("b", folder / "a");
  auto link = entry_of("a", EntryKind::symbolic_link);
  link.target = "c";
  EXPECT_THAT(differences({link}), ElementsAre("a: it leads to b, not to c"));
}

TEST_F(Verify, ComparesHardLinks) {
  const auto first = file("a", files::bytes_of("x"));
  folder.write("b", files::bytes_of("x"));
  EXPECT_THAT(
      differences({first,
                   {.kind = EntryKind::hard_link, .path = "b", .target = "a"},
                   {.kind = EntryKind::hard_link, .path = "a", .target = "none"},
                   {.kind = EntryKind::hard_link, .path = "none", .target = "a"}}),
      ElementsAre("b: it is not the same file as a", "a: it is not the same file as none", "none: it is missing"));
}

TEST_F(Verify, ComparesTheNumbersOfDevices) {
  root = "/dev";
  auto device = entry_of("null", EntryKind::character_device);
  EXPECT_THAT(differences({device}), IsEmpty());
  device.minor = 77;
  EXPECT_THAT(differences({device}), ElementsAre("null: its device is 1:3, not 1:77"));
  device.kind = EntryKind::block_device;
  EXPECT_THAT(differences({device}), ElementsAre("null: it is a character device, not a block device"));
}

TEST_F(Verify, ReportsAFileThatItMayNotRead) {
  folder.write("file", files::bytes_of("abc"));
  auto entry = entry_of("file", EntryKind::file);
  std::filesystem::permissions(folder / "file", std::filesystem::perms::none);
  entry.mode = 0;
  std::filesystem::permissions(root, std::filesystem::perms(0755));
  is_ordinary = true;
  EXPECT_THAT(differences({entry}), ElementsAre("file: it cannot be read: permission denied"));
}

TEST_F(Verify, StopsOnRequest) {
  const auto large = file("file", files::Bytes(3 * kChunkBytes));
  stops_after = 2;
  EXPECT_THAT(differences({large}), IsEmpty());
  EXPECT_EQ(done.error().code, Errc::interrupted);
  EXPECT_EQ(progress["file"], kChunkBytes);
}

TEST_F(Verify, FailsOnlyForItsManifest) {
  beside.write("manifest", files::bytes_of("udtcat manifest 1\nhard-link a b\nend 2\n"));
  auto reader = ManifestReader::open(files::FileLocation(beside / "manifest")).value();
  std::vector<std::string> paths;
  const auto result = verify(reader, files::FileTree::open(root).value(),
                             {[&](const std::string& path, const std::string&) { paths.push_back(path); },
                              [](const std::string&, const Verification&) {}, [] { return false; }});
  EXPECT_EQ(result.error().message(), "read " + (beside / "manifest") + ", line 3: its hash is missing");
  EXPECT_THAT(paths, ElementsAre("a"));
}

}  // namespace
}  // namespace udtcat::trees
