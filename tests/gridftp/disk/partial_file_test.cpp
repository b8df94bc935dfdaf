// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/partial_file.hpp"

#include <cerrno>

#include <sys/stat.h>
#include <sys/syscall.h>

#include "gridftp/disk/failing_calls.hpp"
#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

class PartialFiles : public testing::Test {
 protected:
  /// The name that the file's beginning gets, or why it gets none.
  [[nodiscard]] std::string opened() const {
    const auto file = open_partial_file(location);
    return file ? std::filesystem::path(file->names.part.shown()).filename().string() : file.error().message();
  }
  const Folder folder;
  const files::FileLocation location = files::FileLocation(folder / "file");
  const Bytes mine = Bytes(100, std::byte{1});
};

TEST_F(PartialFiles, AreFoundAgainByTheirJournal) {
  EXPECT_FALSE(find_partial_file(location));
  EXPECT_EQ(opened(), "file.part");
  ASSERT_TRUE(find_partial_file(location)) << "from the first moment";
  EXPECT_EQ(opened(), "file.part");
  EXPECT_TRUE(find_partial_file(location)->journal_of("x").save(files::ByteRanges::parse("0-5").value()));
  EXPECT_EQ(opened(), "file.part");
  EXPECT_TRUE(find_partial_file(location)->journal_of("x").begin());
  EXPECT_FALSE(find_partial_file(location)->journal_of("x").load());
  EXPECT_EQ(opened(), "file.part");
  folder.write("file.part", mine);
  find_partial_file(location)->journal_of("x").remove();
  EXPECT_FALSE(find_partial_file(location));
}

TEST_F(PartialFiles, AreFoundAgainAfterAKillBeforeTheirJournalWasWritten) {
  folder.write("file.part", {});
  EXPECT_EQ(opened(), "file.part");
  EXPECT_EQ(opened(), "file.part") << "and with one";
}

TEST_F(PartialFiles, AreFoundAgainByAJournalThatAPowerCutHasEmptied) {
  for (const char* journal : {"file.part.have", "file.part.have.new"}) {
    folder.write("file.part", mine);
    folder.write(journal, {});
    ASSERT_TRUE(find_partial_file(location)) << journal;
    EXPECT_FALSE(find_partial_file(location)->journal_of("x").load());
    EXPECT_EQ(opened(), "file.part");
    find_partial_file(location)->journal_of("x").remove();
    EXPECT_FALSE(folder.has(journal));
  }
}

TEST_F(PartialFiles, AreNewBesideAJournalWhoseFileHasGotItsName) {
  EXPECT_EQ(opened(), "file.part");
  ASSERT_TRUE(find_partial_file(location)->journal_of("x").save(files::ByteRanges::parse("0-5").value()));
  std::filesystem::rename(folder / "file.part", folder / "file");
  EXPECT_FALSE(find_partial_file(location));
  EXPECT_EQ(opened(), "file.part");
  EXPECT_FALSE(find_partial_file(location)->journal_of("x").load());
}

TEST_F(PartialFiles, LeaveFilesWithoutAJournalAlone) {
  folder.write("file.part", mine);
  folder.write("file.part~2", mine);
  EXPECT_EQ(opened(), "file.part~3");
  EXPECT_EQ(opened(), "file.part~3") << "and go on there";
  EXPECT_TRUE(folder.read("file.part") == mine && folder.read("file.part~2") == mine);
}

TEST_F(PartialFiles, LeaveAUsersFileWithTheNameOfAJournalAlone) {
  for (const char* name : {"file.part.have", "file.part.have.new"}) {
    folder.write(name, mine);
    EXPECT_EQ(opened(), "file.part~2") << name;
    EXPECT_TRUE(folder.read(name) == mine);
    EXPECT_FALSE(folder.has("file.part"));
    std::filesystem::remove(folder / name);
  }
}

TEST_F(PartialFiles, LeaveAFileAloneThatReplacedTheirs) {
  EXPECT_EQ(opened(), "file.part");
  if (location.with_suffix(".part").birth().empty())
    GTEST_SKIP() << "the file system does not tell when a file was made";
  std::filesystem::remove(folder / "file.part");
  folder.write("file.part", mine);
  EXPECT_EQ(opened(), "file.part~2");
  EXPECT_TRUE(folder.read("file.part") == mine);
}

TEST_F(PartialFiles, AreNotWrittenThroughASecondName) {
  EXPECT_EQ(opened(), "file.part");
  std::filesystem::create_hard_link(folder / "file.part", folder / "other");
  EXPECT_EQ(opened(), "file.part~2");
}

TEST_F(PartialFiles, NameWhatIsNoRegularFile) {
  std::filesystem::create_directory(folder / "file.part");
  EXPECT_NE(opened().find("file.part, where its beginning goes, is a directory"), std::string::npos) << opened();
  std::filesystem::remove(folder / "file.part");
  folder.write("target", mine);
  std::filesystem::create_symlink("target", folder / "file.part");
  EXPECT_NE(opened().find("is a symbolic link"), std::string::npos) << opened();
  std::filesystem::remove(folder / "file.part");
  ASSERT_EQ(::mkfifo((folder / "file.part").c_str(), 0600), 0);
  EXPECT_NE(opened().find("is a named pipe"), std::string::npos) << opened();
  EXPECT_TRUE(folder.read("target") == mine);
}

TEST_F(PartialFiles, SayThatAllTheirNamesAreTaken) {
  folder.write("file.part", mine);
  for (int number = 2; number <= 9; ++number) folder.write("file.part~" + std::to_string(number), mine);
  EXPECT_NE(opened().find("not this program's"), std::string::npos) << opened();
}

TEST_F(PartialFiles, NeedNoLocks) {
  for (const int error : {ENOSYS, ENOLCK, EOPNOTSUPP})
    EXPECT_TRUE(holds_in_a_child([&] {
      if (!fail_calls(SYS_flock, static_cast<unsigned>(error))) return false;
      const auto first = open_partial_file(location);
      const auto second = open_partial_file(location);
      return first && !second && second.error().code == Errc::out_of_resources;
    })) << error;
}

TEST_F(PartialFiles, ReportOnlyATakenLockAsAnotherTransfer) {
  EXPECT_TRUE(holds_in_a_child([&] {
    if (!fail_calls(SYS_flock, EIO)) return false;
    const auto file = open_partial_file(location);
    return !file && file.error().code == Errc::local_write_failed &&
           file.error().message().find("nput/output error") != std::string::npos && !folder.has("file.part");
  }));
}

}  // namespace
}  // namespace udtcat::gridftp
