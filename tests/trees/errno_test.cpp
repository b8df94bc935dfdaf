// SPDX-License-Identifier: Apache-2.0
/// src/trees: what an error of the file system costs: one name, or the transfer.
#include <cerrno>
#include <filesystem>

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include "lib/core/user_text.hpp"
#include "support/failing_calls.hpp"
#include "trees/receivers.hpp"

namespace udtcat::trees {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::array kOfANameAlone{EACCES, EFBIG, EISDIR, ELOOP, ENOENT, ENOTDIR, EPERM};
constexpr std::array kOfADisk{EDQUOT, EIO, ENOSPC, EROFS};

/// Both, and those that only names can meet.
std::vector<int> all_errors() {
  std::vector<int> all{EILSEQ, EINVAL, EMLINK, ENAMETOOLONG, EOVERFLOW};
  all.insert(all.end(), kOfANameAlone.begin(), kOfANameAlone.end());
  all.insert(all.end(), kOfADisk.begin(), kOfADisk.end());
  return all;
}

class ReceiversOfErrno : public Receivers {
 protected:
  void begin_where_calls_fail(const std::vector<int>& calls, int error) {
    next_id = 0;
    end.reset();
    std::filesystem::remove_all(in);
    std::filesystem::create_directory(in);
    end.emplace(in, ReceivingEnd::Change(), [calls, error] { test::fail_calls(calls, error); });
  }
  void expect_refused(EntryId id, int error) {
    const auto refused = peer().hear<Refused>();
    EXPECT_EQ(refused.entry, id);
    EXPECT_THAT(refused.reason, HasSubstr(core::errno_text(error)));
  }
  /// It is refused at the end, and the rest stands.
  void expect_refused_at_the_end(EntryId id, int error) {
    peer().say(End{next_id});
    expect_refused(id, error);
    EXPECT_EQ(peer().hear<Done>().entries, next_id);
    EXPECT_TRUE(end->over());
    EXPECT_THAT(end->lines(), SizeIs(1U));
    EXPECT_FALSE(folder.has("in/f"));
    EXPECT_TRUE(folder.has("in/d"));
  }
  void give_directory() {
    announce(directory_at("d"));
    std::ignore = peer().hear<UpToDate>();
  }
};

TEST_F(ReceiversOfErrno, GoOnWithoutANameThatCannotBeMade) {
  for (const int error : all_errors()) {
    begin_where_calls_fail({SYS_mkdirat, SYS_mknodat, SYS_symlinkat}, error);
    for (const Entry& entry :
         {directory_at("d"), symbolic_link_at("l", "x"), entry_at(EntryKind::fifo, "p"), directory_at("e")})
      expect_refused(announce(entry), error);
    give_file("f");
    expect_done();
    EXPECT_EQ(folder.read("in/f"), kContent);
    EXPECT_THAT(end->lines(), SizeIs(4U));
  }
}

TEST_F(ReceiversOfErrno, GoOnWithoutAFileThatCannotBeFinishedOrRenamed) {
  for (const int call : {SYS_ftruncate, SYS_renameat})
    for (const int error : all_errors()) {
      begin_where_calls_fail({call}, error);
      give_directory();
      const EntryId id = begin_file();
      send_contents(id);
      expect_refused_at_the_end(id, error);
    }
}

TEST_F(ReceiversOfErrno, GoOnWithoutAFileThatAloneCannotBeWritten) {
  for (const int error : kOfANameAlone) {
    begin_where_calls_fail({SYS_pwrite64}, error);
    give_directory();
    const EntryId id = begin_file();
    send_contents(id);
    give_file("empty", {});
    expect_refused_at_the_end(id, error);
    EXPECT_TRUE(folder.has("in/empty"));
  }
}

TEST_F(ReceiversOfErrno, EndWhereNoOtherFileCouldBeWrittenEither) {
  for (const int error : kOfADisk) {
    begin_where_calls_fail({SYS_pwrite64}, error);
    send_contents(begin_file());
    const Status over = end->over();
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().errno_value, error);
    ASSERT_TRUE(end->failed) << "the sender hears of it";
    EXPECT_EQ(end->failed->cause, Errc::local_write_failed);
    EXPECT_THAT(end->failed->reason, HasSubstr(core::errno_text(error)));
    EXPECT_THAT(end->lines(), testing::IsEmpty());
  }
}

TEST_F(ReceiversOfErrno, EndWhereNothingCanBeStored) {
  for (const int error : all_errors()) {
    begin_where_calls_fail({SYS_syncfs}, error);
    send_contents(begin_file());
    peer().say(End{next_id});
    EXPECT_EQ(end->over().error().code, Errc::local_write_failed);
    ASSERT_TRUE(end->failed);
    EXPECT_FALSE(folder.has("in/f"));
  }
}

class SendersOfErrno : public testing::Test {
 protected:
  void begin_where_calls_fail(const std::vector<int>& calls, int error) {
    end.reset();
    end.emplace(Source::of_tree(files::FileTree::open(folder.path()).value(), {}).value(), false,
                [calls, error] { test::fail_calls(calls, error); });
  }
  Peer& peer() { return end->peer; }
  void expect_done(std::uint64_t entries) {
    EXPECT_EQ(peer().hear<End>().entries, entries);
    peer().say(Done{entries});
    EXPECT_TRUE(end->over());
    EXPECT_THAT(end->lines(), SizeIs(1U));
  }

  Folder folder;
  std::optional<SendingEnd> end;
};

TEST_F(SendersOfErrno, GoOnWithoutAFileThatCannotBeRead) {
  folder.write("f", kContent);
  for (const int error : all_errors()) {
    begin_where_calls_fail({SYS_pread64}, error);
    EXPECT_EQ(peer().hear<Entry>().path, ".");
    EXPECT_EQ(peer().hear<Entry>().path, "f");
    peer().say(UpToDate{0, std::nullopt});
    peer().say(Want{1});
    EXPECT_THAT(peer().hear<Dropped>().reason, HasSubstr(core::errno_text(error)));
    expect_done(2);
  }
}

TEST_F(SendersOfErrno, GoOnWithoutADirectoryThatCannotBeListed) {
  for (const int error : all_errors()) {
    if (error == ENOENT) continue;  // spec: readdir(3) takes it for the end: somebody has removed the directory
    begin_where_calls_fail({SYS_getdents64}, error);
    EXPECT_EQ(peer().hear<Entry>().path, ".");
    EXPECT_THAT(peer().hear<Missed>().reason, HasSubstr(core::errno_text(error)));
    peer().say(UpToDate{0, std::nullopt});
    expect_done(1);
  }
}

}  // namespace
}  // namespace udtcat::trees
