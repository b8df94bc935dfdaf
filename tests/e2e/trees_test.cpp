// SPDX-License-Identifier: Apache-2.0
/// `udtcat send` and `udtcat receive`: trees arrive as they are, and what is there is not sent again.
#include <array>
#include <csignal>
#include <vector>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

constexpr std::uint64_t kFewBytes = 64 * kKiB;  // guess: entries, answers and what proves them, of a small tree

TEST_F(TreesTest, KeepEveryKindOfFileWhenSent) {
  make_tree_of_everything(here("src"));
  transfer({"src"});
  expect_same(here("src"), here("dst/src"));
  EXPECT_FALSE(has_parts());
  for (const auto& entry : fs::recursive_directory_iterator(here("src/holes")))
    EXPECT_LE(allocated_bytes(here("dst") / entry.path().lexically_relative(home_.path())),
              allocated_bytes(entry.path()) + kMiB)
        << entry.path() << " has lost its holes";
}

TEST_F(TreesTest, KeepEveryKindOfFileWhenReceived) {
  make_tree_of_everything(here("src"));
  Process server = serve(".");
  Process receiver = receive({"src"}, "dst");
  expect_exit(receiver, kSuccess);
  expect_exit(server, kSuccess, kAtOnce);
  expect_same(here("src"), here("dst/src"));
  EXPECT_FALSE(has_parts());
}

TEST_F(TreesTest, AreServedCompletelyWithoutPaths) {
  make_tree_of_everything(here("src"));
  Process server = serve("src", {});
  for (const char* into : {"dst", "again"}) {
    Process receiver = receive({}, into);
    expect_exit(receiver, kSuccess);
    expect_same(here("src"), here(into));
  }
  Process some = receive({"links", "sizes/1"}, "some");
  expect_exit(some, kSuccess);
  expect_same(here("src/links"), here("some/links"));
  EXPECT_EQ(read_file(here("some/1")), read_file(here("src/sizes/1")));
  EXPECT_TRUE(server.running()) << server.errors();
}

TEST_F(TreesTest, AreTheSameAfterASecondSend) {
  make_tree_of_everything(here("src"));
  transfer({"src"});
  const auto again = transfer({"src"});
  EXPECT_LT(again.value("bytes_sent", UINT64_MAX), 4 * kFewBytes) << again;
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesTest, NamedByADotSendContentsAndAttributes) {
  make_tree_of_everything(here("src"));
  fs::create_directory(here("dst"));
  transfer({"src/."});
  expect_same(here("src"), here("dst"));
}

TEST_F(TreesTest, NamedByAListArrive) {
  make_tree_of_everything(here("src"));
  const Ran found = run({.argv = {"find", "src", "-print0"}, .working_directory = home_.path()});
  const fs::path list = home_.write("list", found.output);
  Process receiver = receive_into("dst");
  Process sender = send({"--files-from", "-"}, {.in = open_for_reading(list)});
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess, kAtOnce);
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesTest, OfSeveralPathsStandBesideEachOther) {
  for (const char* name : {"a", "b", "c/d"}) {
    fs::create_directories(here(name));
    home_.write(std::string(name) + "/file", name);
  }
  home_.write("file", "alone");
  transfer({"a", "b/", "c/d", "file"});
  EXPECT_EQ(read_file(here("dst/a/file")), "a");
  EXPECT_EQ(read_file(here("dst/b/file")), "b");
  EXPECT_EQ(read_file(here("dst/d/file")), "c/d");
  EXPECT_EQ(read_file(here("dst/file")), "alone");
  fs::create_directory(here("c/a"));
  Process sender = send({"a", "c/a"});
  expect_exit(sender, kUsage, kAtOnce);
}

TEST_F(TreesTest, AreNotSentAgainUnchanged) {
  const std::uint64_t total = write_many(here("src"), scaled_count(300), 100 * kKiB);
  write_random(here("src/big"), 1, scaled(64 * kMiB));
  let_fingerprints_come();
  EXPECT_GT(transfer({"src"}).value("bytes_sent", 0U), total + scaled(64 * kMiB));

  const auto by_cache = transfer({"src"});
  EXPECT_LT(by_cache.value("bytes_sent", UINT64_MAX), kFewBytes) << by_cache;
  EXPECT_LT(by_cache.value("bytes_received", UINT64_MAX), kFewBytes) << by_cache;

  ASSERT_GT(fs::remove_all(here("cache")), 0U) << "there should have been a cache";
  const auto by_hashes = transfer({"src"});
  EXPECT_LT(by_hashes.value("bytes_sent", UINT64_MAX), kFewBytes) << by_hashes;
  EXPECT_GT(by_hashes.value("bytes_received", 0U), by_cache.value("bytes_received", 0U)) << by_hashes;

  const auto by_new_cache = transfer({"src"});
  EXPECT_LE(by_new_cache.value("bytes_received", UINT64_MAX), by_cache.value("bytes_received", 0U)) << by_new_cache;
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesTest, SendAChangedChunkAlone) {
  fs::create_directory(here("src"));
  write_random(here("src/big"), 1, scaled(64 * kMiB));
  let_fingerprints_come();
  transfer({"src"});
  change_byte(here("src/big"), scaled(64 * kMiB) / 2);
  const auto figures = transfer({"src"});
  EXPECT_GE(figures.value("bytes_sent", 0U), kMiB);
  EXPECT_LT(figures.value("bytes_sent", UINT64_MAX), kMiB + kFewBytes);
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesTest, AreRepairedWhereTheReceiversCopyHasChanged) {
  fs::create_directory(here("src"));
  write_random(here("src/big"), 1, 4 * kMiB);
  let_fingerprints_come();
  transfer({"src"});
  change_byte(here("dst/src/big"), kMiB + 1);
  fs::last_write_time(here("dst/src/big"), fs::last_write_time(here("src/big")));
  transfer({"src"});
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesTest, HaveTheSameStatisticsAtBothEnds) {
  fs::create_directory(here("src"));
  write_random(here("src/file"), 1, kMiB);
  Process receiver = receive_into("dst", {.args = {"--once", "--stats=json"}});
  Process sender = send({"src"}, {.args = {"--stats=json"}});
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess, kAtOnce);
  EXPECT_EQ(figures_of(receiver).value("bytes_received", 0U), figures_of(sender).value("bytes_sent", 1U));
}

TEST_F(TreesTest, ComeFromSeveralSendersAtATime) {
  const Process receiver = receive_into("dst", {});
  std::vector<Process> senders;
  for (const std::string name : {"a", "b", "c"}) {
    fs::create_directory(here(name));
    write_random(here(name + "/file"), static_cast<std::uint64_t>(senders.size()), 16 * kMiB);
    senders.push_back(send({name}, {.args = {"--rate=50M"}}));
    EXPECT_TRUE(eventually(kAtOnce, [&] { return fs::exists(here("dst/" + name)); })) << receiver.errors();
    senders.back().send_signal(SIGSTOP);  // until the others have begun, on however busy a host
  }
  for (Process& sender : senders) EXPECT_TRUE(sender.running()) << "each has two seconds of work";
  for (const Process& sender : senders) sender.send_signal(SIGCONT);
  for (Process& sender : senders) expect_exit(sender, kSuccess);
  for (const char* name : {"a", "b", "c"}) expect_same(here(name), here("dst") / name);
  EXPECT_FALSE(has_parts());
}

TEST_F(TreesTest, LeaveOtherFilesOfTheReceiverAlone) {
  fs::create_directories(here("dst/src"));
  home_.write("dst/src/of somebody else", "stays");
  fs::create_directory(here("src"));
  home_.write("src/mine", "comes");
  transfer({"src"});
  EXPECT_EQ(read_file(here("dst/src/of somebody else")), "stays");
  EXPECT_EQ(read_file(here("dst/src/mine")), "comes");
}

TEST_F(TreesTest, WithAHoleOfTebibytesArriveWithinSeconds) {
  constexpr std::uint64_t kTiB = 1024 * kGiB;
  const fs::path file = here("vast");
  home_.write("vast", "begins");
  std::error_code refused;
  fs::resize_file(file, 5 * kTiB, refused);
  if (refused) GTEST_SKIP() << "the file system cannot have a file of 5 TiB: " << refused.message();
  {
    std::fstream both(file, std::ios::binary | std::ios::in | std::ios::out);
    for (const std::uint64_t at : {kGiB, 3 * kTiB + 12'345, 5 * kTiB - 5}) {
      both.seekp(static_cast<std::streamoff>(at));
      both << "data!";
    }
  }
  const auto begin = Clock::now();
  const auto figures = transfer({"vast"});
  EXPECT_LT(Clock::now() - begin, patience(20s));
  EXPECT_LT(figures.value("bytes_sent", UINT64_MAX), kMiB) << figures;
  EXPECT_EQ(fs::file_size(here("dst/vast")), 5 * kTiB);
  EXPECT_LE(allocated_bytes(here("dst/vast")), allocated_bytes(file) + kMiB);
  std::ifstream copy(here("dst/vast"), std::ios::binary);
  for (const std::uint64_t at : {kGiB, 3 * kTiB + 12'345, 5 * kTiB - 5}) {
    std::string data(5, '\0');
    copy.seekg(static_cast<std::streamoff>(at));
    copy.read(data.data(), 5);
    EXPECT_EQ(data, "data!") << at;
  }
}

class TreesWithOwners : public TreesTest {
 protected:
  static constexpr uid_t kUser = 12'345;
  static constexpr gid_t kGroup = 54'321;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
    TreesTest::SetUp();
    fs::create_directory(here("src"));
    home_.write("src/file", "of somebody", 0644);
    home_.write("src/setuid", "of somebody");
    fs::create_symlink("file", here("src/link"));
    for (const char* name : {"src", "src/file", "src/setuid", "src/link"})
      ASSERT_EQ(::lchown(here(name).c_str(), kUser, kGroup), 0);
    ASSERT_EQ(::chmod(here("src/setuid").c_str(), 06755), 0);  // after chown(2), which takes these bits away
  }
  [[nodiscard]] struct stat at(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::lstat(here(name).c_str(), &status), 0) << name;
    return status;
  }
};

TEST_F(TreesWithOwners, KeepOwnersWithTheOptionAtTheReceiver) {
  transfer({"src"}, {}, {"--owner"});
  expect_same(here("src"), here("dst/src"));
  EXPECT_EQ(at("dst/src/link").st_uid, kUser);
  EXPECT_EQ(at("dst/src/setuid").st_mode & 07777U, 06755U);
}

TEST_F(TreesWithOwners, KeepOwnersWithTheOptionAtTheSender) {
  transfer({"src"}, {"--owner"});
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesWithOwners, BelongToTheReceiverByDefault) {
  transfer({"src"});
  for (const char* name : {"dst/src", "dst/src/file", "dst/src/setuid", "dst/src/link"}) {
    EXPECT_EQ(at(name).st_uid, ::geteuid()) << name;
    EXPECT_EQ(at(name).st_gid, ::getegid()) << name;
  }
}

TEST_F(TreesWithOwners, GetOwnersByALaterSend) {
  transfer({"src"});
  transfer({"src"}, {"--owner"});
  expect_same(here("src"), here("dst/src"));
}

}  // namespace
}  // namespace udtcat::test::e2e
