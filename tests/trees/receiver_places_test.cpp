// SPDX-License-Identifier: Apache-2.0
/// src/trees: the names that a receiver gives, keeps and refuses, in a directory where others have a hand.
#include "trees/receiver.hpp"

#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ordinary_user.hpp"
#include "trees/receivers.hpp"

namespace udtcat::trees {
namespace {

using testing::HasSubstr;

/// Receivers for alice, with a limit.
class LimitedReceivers : public Receivers {
 protected:
  const std::uint64_t file_bytes = files::kNameBytes + kContent.size();

  void begin_with(std::uint64_t limit) {
    begin([&, limit](ReceiverOptions& options) {
      auto use = uses.of(options.tree).value();
      options.directory_limit = files::DirectoryLimit{.use = std::move(use), .bytes = limit, .peer = "alice"};
      ASSERT_TRUE(options.directory_limit->await_count());
    });
  }
  void expect_refused() {
    const Status over = end->over();
    ASSERT_FALSE(over);
    EXPECT_THAT(over.error().message(), HasSubstr("alice may have"));
  }

  files::DirectoryUses uses;
};

TEST_F(LimitedReceivers, KeepFilesThatWereWholeWhenTheNextDoesNotFit) {
  begin_with(2 * file_bytes - 1);
  give_file("f");
  send_contents(begin_file("g"));
  expect_refused();
  EXPECT_EQ(names_in(in), std::vector<std::string>{"f"});
  EXPECT_EQ(end->counters.files, 1U);
}

TEST_F(LimitedReceivers, KeepFilesThatWereWholeWhenTheNextNameDoesNotFit) {
  begin_with(file_bytes);
  give_file("f");
  announce(directory_at("d"));
  expect_refused();
  EXPECT_EQ(names_in(in), std::vector<std::string>{"f"});
  EXPECT_EQ(end->counters.files, 1U);
}

TEST_F(LimitedReceivers, KeepDirectoriesThatCanBeCounted) {
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(in, std::filesystem::perms::all);
  const test::OrdinaryUser user;
  begin_with(10 * file_bytes);
  Entry directory = directory_at("d");
  directory.attributes.mode = 0311;
  announce(directory);
  std::ignore = peer().hear<UpToDate>();
  give_file("d/f");
  peer().say(End{next_id});
  EXPECT_THAT(peer().hear<NotStored>().reason, HasSubstr("its mode could not be kept: it is 0711 there, not 0311"));
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_EQ(status_of("d").st_mode & 07777U, 0711U);
  files::DirectoryLimit next{.use = uses.of(files::FileTree::open(in).value()).value(), .bytes = 1, .peer = "alice"};
  EXPECT_TRUE(next.await_count());
}

/// Proves: threat-model.remembered-entries
TEST_F(Receivers, RememberNoMoreDirectoriesThanTheyHaveMemoryFor) {
  begin([](ReceiverOptions& options) {
    EXPECT_EQ(options.remembered_bytes, 2 * kGiB);
    options.remembered_bytes = 20'000;
  });
  for (int i = 0; i < 1'000; ++i) {
    Entry directory = file_at("directory" + std::to_string(i), 0);
    directory.kind = EntryKind::directory;
    peer().gather(directory);
  }
  peer().say(End{1'000});
  const Status over = end->over();
  ASSERT_FALSE(over);
  EXPECT_THAT(over.error().message(), testing::HasSubstr("take one more directory or link"));
  EXPECT_LT(names_in(in).size(), 20'000 / sizeof(Attributes));
}

TEST_F(Receivers, RefuseASecondEntryOfAPath) {
  begin();
  give_file("f");
  announce(directory_at("d"));
  std::ignore = peer().hear<UpToDate>();
  announce(symbolic_link_at("l", "x"));
  std::ignore = peer().hear<UpToDate>();
  const EntryId again = announce(file_at("f", kContent.size()));
  EXPECT_EQ(peer().hear<Hashes>().entry, again) << "the first one's part waits for its name";
  send_contents(again, test::random_bytes(kContent.size()));
  const EntryId directory = announce(directory_at("d"));
  EXPECT_EQ(peer().hear<Refused>().entry, directory);
  const EntryId link = announce(symbolic_link_at("l", "y"));
  EXPECT_EQ(peer().hear<Refused>().entry, link);
  peer().say(End{next_id});
  EXPECT_EQ(peer().hear<Refused>().entry, again);
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_EQ(folder.read("in/f"), kContent) << "the first stands";
  EXPECT_EQ(std::filesystem::read_symlink(folder / "in/l"), "x");
  EXPECT_EQ(end->counters.errors, 3U);
}

TEST_F(Receivers, SetNoAttributesOfAReplacedDirectory) {
  std::filesystem::create_directory(folder / "outside/private");
  std::filesystem::permissions(folder / "outside/private", std::filesystem::perms::owner_all);
  begin();
  announce(directory_at("d"));
  std::ignore = peer().hear<UpToDate>();
  std::filesystem::remove(folder / "in/d");
  std::filesystem::rename(folder / "outside/private", folder / "in/d");
  peer().say(End{next_id});
  EXPECT_THAT(peer().hear<Refused>().reason, HasSubstr("another directory has taken its place"));
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_EQ(status_of("d").st_mode & 07777U, 0700U);
}

TEST_F(Receivers, LinkToNoReplacedFile) {
  begin();
  const EntryId original = announce(linkable_at("f", kContent.size()));
  std::ignore = peer().hear<Want>();
  send_contents(original);
  for (std::size_t i = 0; i < Committer::kFiles; ++i) give_file("g" + std::to_string(i), {});  // a batch
  const EntryId link = announce(hard_link_at("l", original));
  EXPECT_EQ(peer().hear<UpToDate>().entry, link);
  while (!folder.has("in/f")) std::this_thread::yield();
  folder.write("in/other", bytes_of("another's"));
  std::filesystem::rename(folder / "in/other", folder / "in/f");
  peer().say(End{next_id});
  EXPECT_EQ(peer().hear<Refused>().entry, link);
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_FALSE(folder.has("in/l"));
}

TEST_F(Receivers, ReplaceAnUnreadableFile) {
  folder.write("in/f", test::random_bytes(kContent.size()));
  std::filesystem::permissions(folder / "in/f", std::filesystem::perms::none);
  begin();
  const EntryId id = announce(file_at("f", kContent.size()));
  if (::geteuid() == 0)
    std::ignore = peer().hear<Hashes>();  // root may read all
  else
    std::ignore = peer().hear<Want>();
  send_contents(id);
  expect_done();
  EXPECT_EQ(folder.read("in/f"), kContent);
}

/// A file that its owner, or root, has made immutable while this lives.
class ImmutableFile {
 public:
  explicit ImmutableFile(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), is_so_(set(true)) {}
  ImmutableFile(const ImmutableFile&) = delete;
  ImmutableFile& operator=(const ImmutableFile&) = delete;
  ~ImmutableFile() {
    if (is_so_) std::ignore = set(false);
  }
  [[nodiscard]] bool is_so() const { return is_so_; }

 private:
  [[nodiscard]] bool set(bool immutable) const {
    int flags = 0;
    if (::ioctl(file_.number(), FS_IOC_GETFLAGS, &flags) != 0) return false;
    flags = immutable ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    return ::ioctl(file_.number(), FS_IOC_SETFLAGS, &flags) == 0;
  }

  const bridge::Descriptor file_;
  const bool is_so_;
};

TEST_F(Receivers, RefuseAnImmutableFileBeforeItsContents) {
  folder.write("in/f", bytes_of("old"));
  const ImmutableFile immutable(folder / "in/f");
  if (!immutable.is_so()) GTEST_SKIP() << "only root may make a file immutable";
  begin();
  const EntryId id = announce(file_at("f", kContent.size()));
  const auto refused = peer().hear<Refused>();
  EXPECT_EQ(refused.entry, id);
  EXPECT_THAT(refused.reason, HasSubstr("immutable"));
  expect_done();
}

TEST_F(Receivers, KeepAnEqualImmutableFile) {
  folder.write("in/f", kContent);
  const timespec times[2] = {{1'000'000'000, 5}, {1'000'000'000, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder / "in/f").c_str(), times, 0), 0);
  std::filesystem::permissions(folder / "in/f", std::filesystem::perms(0644));
  const ImmutableFile immutable(folder / "in/f");
  if (!immutable.is_so()) GTEST_SKIP() << "only root may make a file immutable";
  begin();
  const EntryId id = announce(file_at("f", kContent.size()));
  EXPECT_EQ(peer().hear<Hashes>().entry, id);
  peer().say(CopyChunks{id, 0, kChunks});
  peer().say(FileDone{id, root_of(kContent), {}});
  expect_done();
  EXPECT_EQ(end->counters.errors, 0U);
}

TEST_F(Receivers, WriteNoPartOfAnImmutableFile) {
  folder.write("in/f", test::random_bytes(kContent.size()));
  const ImmutableFile immutable(folder / "in/f");
  if (!immutable.is_so()) GTEST_SKIP() << "only root may make a file immutable";
  begin();
  const EntryId id = announce(file_at("f", kContent.size()));
  EXPECT_EQ(peer().hear<Hashes>().entry, id);
  send_contents(id);
  peer().say(End{next_id});
  EXPECT_THAT(peer().hear<Refused>().reason, HasSubstr("immutable"));
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_FALSE(folder.has("in/.udtcat-parts"));
}

TEST_F(Receivers, WriteIntoAReadOnlyDirectoryOfAnEarlierTransfer) {
  std::filesystem::permissions(folder / "in", std::filesystem::perms(0555));
  begin();
  give_file("f");
  expect_done();
  EXPECT_EQ(status_of(".").st_mode & 07777U, 0555U);
  std::filesystem::permissions(folder / "in", std::filesystem::perms(0755));
}

}  // namespace
}  // namespace udtcat::trees
