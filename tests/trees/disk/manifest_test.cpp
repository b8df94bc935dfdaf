// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/manifest.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "support/failing_calls.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

std::vector<ManifestEntry> some_entries() {
  return {{.kind = EntryKind::directory, .path = ".", .mode = 0755, .changed = {1, 2}},
          {.path = "a b", .mode = 0644, .changed = {-3, 4}, .size_bytes = 5, .digest = files::digest_of({})},
          {.kind = EntryKind::hard_link, .path = "c", .target = "a b"},
          {.kind = EntryKind::symbolic_link, .path = "d", .changed = {6, 7}, .target = "../\n"}};
}

class Manifests : public testing::Test {
 protected:
  void write(const std::vector<ManifestEntry>& entries) const {
    auto writer = ManifestWriter::create(location).value();
    for (const ManifestEntry& entry : entries) ASSERT_TRUE(writer.add(entry));
    ASSERT_TRUE(writer.finish());
  }
  /// All of it, or the error.
  [[nodiscard]] Result<std::vector<ManifestEntry>> read() const {
    auto reader = ManifestReader::open(location);
    if (!reader) return tl::unexpected(reader.error());
    std::vector<ManifestEntry> entries;
    for (;;) {
      auto entry = reader->next();
      if (!entry) return tl::unexpected(entry.error());
      if (!*entry) return entries;
      entries.push_back(std::move(**entry));
    }
  }
  [[nodiscard]] std::string complaint_of(const std::string& content) const {
    folder.write("manifest", bytes_of(content));
    const auto got = read();
    return got ? "none" : got.error().message();
  }
  /// With an end that fits.
  [[nodiscard]] static std::string ended(const std::string& lines, std::uint64_t entries) {
    return lines + encode_line(ManifestEnd{entries, files::digest_of({bytes_of(lines)})}) + '\n';
  }

  Folder folder;
  files::FileLocation location{folder / "manifest"};
};

TEST_F(Manifests, AreFinishedWhenTheirNameIsOnTheDisk) {
  std::thread([&] {
    auto writer = ManifestWriter::create(location).value();
    test::fail_calls({SYS_fsync}, EIO);
    const auto finished = writer.finish();
    ASSERT_FALSE(finished);
    EXPECT_THAT(finished.error().message(), testing::HasSubstr("store the name"));
  }).join();
}

TEST_F(Manifests, AreReadAsTheyWereWritten) {
  write(some_entries());
  EXPECT_EQ(read(), some_entries());
  EXPECT_FALSE(folder.has("manifest.new"));
  write({});
  EXPECT_EQ(read()->size(), 0U) << "in the place of the first";
  EXPECT_EQ(test::text_of(folder.read("manifest")), ended("udtcat manifest 1\n", 0));
}

TEST_F(Manifests, OfManyLinesAreRead) {
  std::vector<ManifestEntry> entries;
  for (std::size_t i = 0; i < 1'000; ++i)
    entries.push_back({.path = std::to_string(i) + '/' + std::string(i % 250 + 1, i % 2 == 0 ? '\n' : 'x')});
  entries.push_back({.kind = EntryKind::symbolic_link, .path = "long", .target = std::string(4'095, ' ')});
  write(entries);
  EXPECT_EQ(read(), entries);
}

TEST_F(Manifests, LeaveNothingUnlessTheyAreFinished) {
  {
    auto writer = ManifestWriter::create(location).value();
    auto moved = std::move(writer);
    EXPECT_TRUE(moved.add(some_entries().front()));
    EXPECT_TRUE(folder.files().empty()) << "a process that is killed leaves nothing";
  }
  EXPECT_TRUE(folder.files().empty());
  EXPECT_EQ(ManifestWriter::create(files::FileLocation("/no/such/place")).error().code, Errc::local_write_failed);
}

TEST_F(Manifests, RefuseAnEntryBeyondTheLimits) {
  auto writer = ManifestWriter::create(location).value();
  EXPECT_EQ(writer.add({.path = "../a"}).error().code, Errc::bad_argument);
  EXPECT_EQ(writer.add({.path = "a"}).error().code, Errc::bad_argument) << "the first error stays";
  EXPECT_FALSE(writer.finish());
}

TEST_F(Manifests, ReportAFullDisk) {
  auto writer = ManifestWriter::create(location).value();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const Status finished = writer.finish();
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::ignore = std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Errc::local_write_failed);
}

TEST_F(Manifests, CanBeWrittenByTwoAtATime) {
  auto one = ManifestWriter::create(location).value();
  auto other = ManifestWriter::create(location).value();
  EXPECT_TRUE(one.add(some_entries().front()));
  EXPECT_TRUE(one.finish());
  EXPECT_TRUE(other.finish());
  EXPECT_EQ(folder.files().size(), 1U) << "the last one's";
  EXPECT_TRUE(read());
}

TEST_F(Manifests, AreDamagedAtEachTruncation) {
  write(some_entries());
  const Bytes whole = folder.read("manifest");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    folder.write("manifest", {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_FALSE(read()) << length;
  }
}

TEST_F(Manifests, WithAnyByteChangedAreDamaged) {
  write(some_entries());
  Bytes bytes = folder.read("manifest");
  for (std::byte& byte : bytes) {
    for (const int change : {1, 0x20, 0xff}) {
      byte ^= static_cast<std::byte>(change);
      folder.write("manifest", bytes);
      EXPECT_FALSE(read()) << &byte - bytes.data();
      byte ^= static_cast<std::byte>(change);
    }
  }
}

TEST_F(Manifests, NameTheLineThatIsWrong) {
  const std::string where = "read " + (folder / "manifest");
  const std::string first = "udtcat manifest 1\n";
  EXPECT_EQ(complaint_of(""), where + ": it is not a manifest of udtcat, version 1");
  EXPECT_EQ(complaint_of("udtcat manifest 2\n"), where + ": it is not a manifest of udtcat, version 1");
  EXPECT_EQ(complaint_of(first), where + ", line 2: the end of the manifest is missing");
  EXPECT_EQ(complaint_of(first + "hard-link a b"), where + ", line 2: it is cut off");
  EXPECT_EQ(complaint_of(first + "hard-link a b\nhard-link a\n"), where + ", line 3: its other name is missing");
  EXPECT_EQ(complaint_of(first + "end 0\n"), where + ", line 2: its hash is missing");
  EXPECT_EQ(complaint_of(ended(first, 1)), where + ", line 2: there are 0 entries before it, and it says 1");
  EXPECT_EQ(complaint_of(first + "hard-link a b\n" + encode_line(ManifestEnd{1, {}}) + '\n'),
            where + ", line 3: the lines before it are not those that it was written for");
  EXPECT_EQ(complaint_of(ended(first, 0) + "\n"), where + ", line 3: it follows the end");
  EXPECT_EQ(complaint_of(ended(first, 0)), "none");
}

/// Proves: manifest.line-length
TEST_F(Manifests, RefuseALineBeyondTheLimit) {
  const std::string where = "read " + (folder / "manifest");
  const std::string longest(65'536, 'x');
  const std::string cause = ": it is longer than 64 KiB";
  EXPECT_EQ(complaint_of("udtcat manifest 1\n" + longest + '\n'), where + ", line 2: it is of no kind that is known");
  EXPECT_EQ(complaint_of("udtcat manifest 1\n" + longest + "x\n"), where + ", line 2" + cause);
  EXPECT_EQ(complaint_of(std::string(1'000'000, 'x')), where + ", line 1" + cause);
}

TEST_F(Manifests, RepeatTheirFirstError) {
  folder.write("manifest", bytes_of(ended("udtcat manifest 1\nx\n", 1)));
  auto reader = ManifestReader::open(location).value();
  EXPECT_EQ(reader.next().error().message(), reader.next().error().message());
}

TEST_F(Manifests, AreReadFromAPipe) {
  write(some_entries());
  const Bytes content = folder.read("manifest");
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const bridge::Descriptor out(ends[0]);
  std::thread writer([&] {
    const bridge::Descriptor in(ends[1]);
    for (const std::byte byte : content) EXPECT_TRUE(files::write_whole(in, {&byte, 1}, "pipe"));
  });
  auto reader = ManifestReader::open(files::FileLocation("/dev/fd/" + std::to_string(ends[0])));
  writer.join();
  ASSERT_TRUE(reader) << reader.error().message();
  for (const ManifestEntry& expected : some_entries()) EXPECT_EQ(*reader->next().value(), expected);
  EXPECT_FALSE(reader->next().value());
}

TEST_F(Manifests, AreNeitherDirectoriesNorMissing) {
  EXPECT_EQ(ManifestReader::open(files::FileLocation(folder.path())).error().code, Errc::local_read_failed);
  EXPECT_EQ(ManifestReader::open(location).error().code, Errc::bad_argument);
  EXPECT_EQ(ManifestReader::open(location).error().message(),
            "open " + (folder / "manifest") + ": no such file or directory");
}

}  // namespace
}  // namespace udtcat::trees
