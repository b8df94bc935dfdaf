// SPDX-License-Identifier: Apache-2.0
/// src/trees: a real sender and a real receiver, in one process.
#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "support/deadline.hpp"
#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kLargeBytes = 5 * kChunkBytes + 4'321;
const Bytes kLarge = test::random_bytes(kLargeBytes);

/// The figures of both ends.
struct Transferred {
  Status sent;
  Status received;
  RecordedErrors at_sender;
  RecordedErrors at_receiver;
  [[nodiscard]] std::uint64_t moved_bytes() const { return at_sender.counters.moved_bytes; }
};

class BothEnds : public testing::Test {
 protected:
  /// Sends all of `from` to `to`, once more.
  const Transferred& transfer(const ReceivingEnd::Change& change = {}) {
    auto now = std::make_unique<Transferred>();
    JoinedStreams streams;
    ReceiverOptions options{.tree = files::FileTree::open(to).value(), .job = kJob, .limit_bytes = {}, .cache = {}};
    if (change) change(options);
    std::thread receiving([&] {
      const auto receiver = Receiver::make(options, streams.there, nullptr, now->at_receiver.counters).value();
      MessageReader reader(streams.there);
      now->received = receiver->run(reader, std::nullopt);
    });
    auto source = Source::of_tree(files::FileTree::open(from).value(), {}).value();
    Sender sender(source, streams.here, nullptr, now->at_sender.counters);
    MessageReader reader(streams.here);
    now->sent = sender.run(reader, std::nullopt);
    receiving.join();
    last = std::move(now);
    return *last;
  }
  /// The same, without a trouble.
  const Transferred& transfer_all(const ReceivingEnd::Change& change = {}) {
    const Transferred& done = transfer(change);
    EXPECT_TRUE(done.sent) << done.sent.error().message();
    EXPECT_TRUE(done.received) << done.received.error().message();
    EXPECT_THAT(last->at_sender.lines(), IsEmpty());
    EXPECT_THAT(last->at_receiver.lines(), IsEmpty());
    EXPECT_EQ(done.at_sender.counters.entries, done.at_receiver.counters.entries);
    EXPECT_EQ(done.at_sender.counters.bytes, done.at_receiver.counters.bytes);
    EXPECT_EQ(done.at_sender.counters.moved_bytes, done.at_receiver.counters.moved_bytes);
    EXPECT_FALSE(folder.has("to/.udtcat-parts"));
    return done;
  }
  /// A part as a transfer that was cut has left it.
  void leave_part(const std::string& path, const Bytes& content) const {
    const auto parts = PartialFiles::open(files::FileTree::open(to).value(), kJob).value();
    const auto part = parts.top().take(path).value();
    ASSERT_TRUE(files::write_whole_at(part, 0, content, path));
  }
  [[nodiscard]] std::string made(const std::string& name) const {
    std::filesystem::create_directory(folder / name);
    return folder / name;
  }
  [[nodiscard]] struct stat status_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::lstat((folder / name).c_str(), &status), 0) << name;
    return status;
  }

  Folder folder;
  const std::string from = made("from");
  const std::string to = made("to");
  std::unique_ptr<Transferred> last;
};

TEST_F(BothEnds, ResumeFromAPart) {
  folder.write("from/f", kLarge);
  leave_part("f", {kLarge.begin(), kLarge.begin() + 3 * kChunkBytes + 17});
  EXPECT_EQ(transfer_all().moved_bytes(), kLargeBytes - 3 * kChunkBytes);
  EXPECT_TRUE(folder.read("to/f") == kLarge);
}

/// Proves: trees.parts-hashed
TEST_F(BothEnds, HashAPartAndDoNotTrustIt) {
  folder.write("from/f", kLarge);
  Bytes garbage = test::random_bytes(kLargeBytes + kChunkBytes, 7);
  std::copy_n(kLarge.begin() + 2 * kChunkBytes, kChunkBytes, garbage.begin() + 2 * kChunkBytes);
  leave_part("f", garbage);
  EXPECT_EQ(transfer_all().moved_bytes(), kLargeBytes - kChunkBytes) << "but for the one chunk that it has";
  EXPECT_TRUE(folder.read("to/f") == kLarge);
}

TEST_F(BothEnds, ClearOldBytesOfAPartInHoles) {
  folder.write("from/f", bytes_of("begin"));
  std::filesystem::resize_file(folder / "from/f", 2 * kChunkBytes + 99);
  leave_part("f", test::random_bytes(4 * kChunkBytes));
  EXPECT_LE(transfer_all().moved_bytes(), 4'096U);
  EXPECT_TRUE(folder.read("to/f") == folder.read("from/f"));
}

TEST_F(BothEnds, TruncateAPartOfAFileThatIsEmptyNow) {
  folder.write("from/f", {});
  leave_part("f", kLarge);
  transfer_all();
  EXPECT_EQ(folder.read("to/f"), Bytes());
}

TEST_F(BothEnds, IgnoreAPartWithAnotherHardLink) {
  folder.write("from/f", kLarge);
  leave_part("f", kLarge);
  std::filesystem::create_hard_link(
      *std::filesystem::directory_iterator(folder / ("to/.udtcat-parts/" + std::string(kJob))), folder / "other");
  EXPECT_EQ(transfer_all().moved_bytes(), kLargeBytes);
  EXPECT_EQ(std::filesystem::hard_link_count(folder / "other"), 1U) << "what is linked elsewhere stays as it is";
}

TEST_F(BothEnds, ReplaceAFileOfTheSameSizeAndOtherContent) {
  folder.write("from/f", kLarge);
  folder.write("to/f", test::random_bytes(kLargeBytes, 9));
  EXPECT_EQ(transfer_all().moved_bytes(), kLargeBytes);
  EXPECT_TRUE(folder.read("to/f") == kLarge);
}

TEST_F(BothEnds, SendOnlyTheChunksThatDiffer) {
  folder.write("from/f", kLarge);
  Bytes old = kLarge;
  old[3 * kChunkBytes + 1] ^= std::byte{1};
  folder.write("to/f", old);
  std::filesystem::create_hard_link(folder / "to/f", folder / "old");
  EXPECT_EQ(transfer_all().moved_bytes(), kChunkBytes);
  EXPECT_TRUE(folder.read("to/f") == kLarge);
  EXPECT_TRUE(folder.read("old") == old) << "a file with a name is never half of another";
}

TEST_F(BothEnds, ChangeNothingButAttributesWhereTheContentIsEqual) {
  folder.write("from/f", kLarge);
  folder.write("to/f", kLarge);
  std::filesystem::permissions(folder / "from/f", std::filesystem::perms(0640));
  const auto before = status_of("to/f").st_ino;
  EXPECT_EQ(transfer_all().moved_bytes(), 0U);
  const auto after = status_of("to/f");
  EXPECT_EQ(after.st_ino, before);
  EXPECT_EQ(after.st_mode & 07777U, 0640U);
  EXPECT_EQ(changed_time_of(after), changed_time_of(status_of("from/f")));
}

TEST_F(BothEnds, ReplaceAFileThatIsLongerOrShorter) {
  folder.write("from/f", kLarge);
  for (const std::size_t size : {kLargeBytes / 2, kLargeBytes * 2}) {
    folder.write("to/f", test::random_bytes(size));
    transfer_all();
    EXPECT_TRUE(folder.read("to/f") == kLarge);
  }
}

TEST_F(BothEnds, KeepHardLinks) {
  std::filesystem::create_directory(folder / "from/d");
  folder.write("from/d/a", kLarge);
  std::filesystem::create_hard_link(folder / "from/d/a", folder / "from/z");
  std::filesystem::create_hard_link(folder / "from/d/a", folder / "from/d/b");
  folder.write("to/z", bytes_of("something else"));
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(transfer_all().moved_bytes(), time == 0 ? kLargeBytes : 0);
    EXPECT_EQ(status_of("to/d/a").st_ino, status_of("to/z").st_ino);
    EXPECT_EQ(status_of("to/d/a").st_ino, status_of("to/d/b").st_ino);
    EXPECT_EQ(status_of("to/z").st_nlink, 3U);
    EXPECT_EQ(last->at_receiver.counters.entries, 5U);
    EXPECT_EQ(last->at_receiver.counters.files, 1U);
  }
}

TEST_F(BothEnds, KeepEverythingThatATreeHas) {
  std::filesystem::create_directories(folder / "from/a/b/c");
  std::filesystem::create_symlink("nowhere/at all", folder / "from/a/link");
  ASSERT_EQ(::mkfifo((folder / "from/a/pipe").c_str(), 0621), 0);
  ASSERT_EQ(::chmod((folder / "from/a/pipe").c_str(), 0621), 0);
  folder.write("from/a/b/f", bytes_of("text"));
  folder.write("from/a/b/name with \xff and \n", bytes_of("odd"));
  ASSERT_EQ(::chmod((folder / "from/a/b").c_str(), 0500), 0);
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, timespec{-12, 345}};
  for (const char* name : {"from/a/link", "from/a/pipe", "from/a/b/f", "from/a/b/c", "from/a/b", "from/a", "from"})
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder / name).c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0);
  const bool has_attributes = ::setxattr((folder / "from/a").c_str(), "user.comment", "of a", 4, 0) == 0;
  for (int time = 0; time < 2; ++time) {
    transfer_all();
    for (const char* name : {"", "/a", "/a/b", "/a/b/c", "/a/b/f", "/a/link", "/a/pipe"}) {
      const auto here = status_of(std::string("from") + name);
      const auto there = status_of(std::string("to") + name);
      EXPECT_EQ(here.st_mode, there.st_mode) << name;
      EXPECT_EQ(changed_time_of(here), changed_time_of(there)) << name;
    }
    EXPECT_EQ(folder.read("to/a/b/name with \xff and \n"), bytes_of("odd"));
    EXPECT_EQ(std::filesystem::read_symlink(folder / "to/a/link"), "nowhere/at all");
  }
  std::array<char, 16> value{};
  if (has_attributes) {
    EXPECT_EQ(::getxattr((folder / "to/a").c_str(), "user.comment", value.data(), value.size()), 4);
  }
  ASSERT_EQ(::chmod((folder / "from/a/b").c_str(), 0700), 0);  // to be removed
  ASSERT_EQ(::chmod((folder / "to/a/b").c_str(), 0700), 0);
}

TEST_F(BothEnds, KeepHoles) {
  folder.write("from/f", bytes_of("begin"));
  std::filesystem::resize_file(folder / "from/f", 40 * kChunkBytes + 5);
  transfer_all();
  EXPECT_EQ(std::filesystem::file_size(folder / "to/f"), 40 * kChunkBytes + 5);
  EXPECT_LE(status_of("to/f").st_blocks * 512, static_cast<blkcnt_t>(kChunkBytes));
  EXPECT_EQ(last->at_receiver.counters.bytes, 40 * kChunkBytes + 5);
}

TEST_F(BothEnds, ReadNoFileAgainThatTheCacheHas) {
  const auto with_cache = [&](ReceiverOptions& options) { options.cache = files::FileLocation(folder / "cache"); };
  folder.write("from/f", kLarge);
  test::let_pass(2 * kLately);
  const auto location = files::FileTree::open(from).value().locate("f", Errc::local_read_failed).value();
  if (!fingerprint_of(location, status_of("from/f"))) GTEST_SKIP() << "needs a file system that tells of each change";
  transfer_all(with_cache);
  EXPECT_EQ(transfer_all(with_cache).moved_bytes(), 0U);
  EXPECT_EQ(last->at_sender.counters.current_file(), "") << "neither end has opened it";
  folder.write("to/f", test::random_bytes(kLargeBytes, 3));
  EXPECT_EQ(transfer_all(with_cache).moved_bytes(), kLargeBytes) << "it has changed since";
  EXPECT_TRUE(folder.read("to/f") == kLarge);
}

TEST_F(BothEnds, SkipSockets) {
  ASSERT_EQ(::mknod((folder / "from/socket").c_str(), S_IFSOCK | 0600, 0), 0);
  folder.write("from/f", bytes_of("x"));
  transfer_all();
  EXPECT_EQ(last->at_sender.counters.passed_over, 1U);
  EXPECT_FALSE(folder.has("to/socket"));
}

TEST_F(BothEnds, RefuseToRunATransferTwiceAtATime) {
  const auto tree = files::FileTree::open(to).value();
  const auto held = PartialFiles::open(tree, kJob).value();
  JoinedStreams streams;
  RecordedErrors recorded;
  ReceiverOptions options{.tree = tree, .job = kJob, .limit_bytes = {}, .cache = {}};
  const auto made = Receiver::make(options, streams.here, nullptr, recorded.counters);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::out_of_resources);
}

}  // namespace
}  // namespace udtcat::trees
