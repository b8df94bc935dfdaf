// SPDX-License-Identifier: Apache-2.0
#include "files/directory_use.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "files/folder.hpp"
#include "support/no_threads.hpp"
#include "support/ordinary_user.hpp"

namespace udtcat::files {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kName = kNameBytes;
constexpr std::uint64_t kLimit = 1'000'000;

class DirectoryUsed : public testing::Test {
 protected:
  [[nodiscard]] DirectoryLimit not_counted() {
    return {.use = uses.of(FileTree::open(folder.path()).value()).value(), .bytes = kLimit, .peer = "alice"};
  }
  [[nodiscard]] DirectoryLimit limit() {
    DirectoryLimit counted = not_counted();
    EXPECT_TRUE(counted.await_count());
    return counted;
  }
  /// The bytes that may be written without counting.
  static std::uint64_t room(const DirectoryLimit& limit) { return kLimit - limit.use->used(); }
  void file(const std::string& name, std::uint64_t bytes) const {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    folder.write(name, {});
    std::filesystem::resize_file(folder.path() / name, bytes);
  }
  [[nodiscard]] FileLocation at(const std::string& name) const { return FileLocation(folder / name); }
  static void remove(const DirectoryLimit& limit, const FileLocation& location) { remove_in(limit.use, location); }

  Folder folder;
  DirectoryUses uses;
};

TEST_F(DirectoryUsed, RefusesWhatWouldBeMoreAndSaysTheLimit) {
  const DirectoryLimit alice = limit();
  const auto granted = alice.reserve(kLimit, "write f");
  ASSERT_TRUE(granted);
  const auto refused = alice.reserve(1, "write f");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::stream_refused);
  EXPECT_EQ(refused.error().errno_value, EDQUOT);
  EXPECT_EQ(refused.error().message(), "write f: alice may have 1.00 MB here at most (limit=), and has 1.00 MB");
  alice.use->release(1);
  EXPECT_TRUE(alice.reserve(1, "write f"));
  EXPECT_FALSE(alice.reserve(UINT64_MAX, "write f")) << "of which a sum would be small";
}

TEST_F(DirectoryUsed, SaysHowMuchIsInPartsAndSinceWhen) {
  file(".udtcat-parts/job/part", 500'000);
  const timespec march{.tv_sec = 1'772'600'000, .tv_nsec = 0};
  const std::array<timespec, 2> times{march, march};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder / ".udtcat-parts/job/part").c_str(), times.data(), 0), 0);
  const auto refused = limit().reserve(kLimit, "write f");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("of which 508 kB in parts of files that have not come whole, the "
                                                   "oldest of 2026-03-04: the commands that were cut, given again, go "
                                                   "on with them, or they can be removed there (.udtcat-parts, "
                                                   "NAME.part)"));
}

TEST_F(DirectoryUsed, IsOneForAllThatWriteThereAtTheSameTime) {
  const DirectoryLimit one = limit();
  ASSERT_TRUE(one.reserve(900'000, "write f"));
  EXPECT_EQ(room(limit()), kLimit - 900'000);
}

TEST_F(DirectoryUsed, IsCountedAgainWhenNobodyWritesThere) {
  const DirectoryLimit reader = not_counted();
  { ASSERT_TRUE(limit().reserve(900'000, "write f")); }
  file("f", 100'000);
  EXPECT_EQ(room(limit()), kLimit - 100'000 - kName);
}

TEST_F(DirectoryUsed, IsCountedAgainWhereItsLimitIsReached) {
  file("f", 900'000);
  const DirectoryLimit alice = limit();
  EXPECT_FALSE(alice.reserve(500'000, "write g"));
  std::filesystem::remove(folder.path() / "f");  // by somebody else
  const auto reservation = alice.reserve(500'000, "write g");
  EXPECT_TRUE(reservation) << "at once";
  EXPECT_FALSE(alice.reserve(600'000, "write h")) << "what is granted counts, though it is not on the disk yet";
}

TEST_F(DirectoryUsed, RefusesByACountThatBeganLaterAlone) {
  file("f", 900'000);
  const DirectoryLimit alice = limit();
  const std::string what = "write g";
  DirectoryUse::CountNumber asked;
  ASSERT_TRUE(alice.use->wait({})) << "the next count may begin";
  EXPECT_FALSE(alice.try_reserve(500'000, what, asked).value()) << "neither granted nor refused";
  ASSERT_TRUE(alice.use->wait({}));
  DirectoryUse::CountNumber later;
  const auto unanswered = alice.try_reserve(500'000, what, later);
  EXPECT_TRUE(unanswered && !*unanswered) << "the count was of the first";
  EXPECT_FALSE(alice.try_reserve(500'000, what, asked)) << "which it refuses";
}

TEST_F(DirectoryUsed, HasNothingOfAnInodeThatIsUsedAgain) {
  const DirectoryLimit alice = limit();
  const auto make_open = [&] {
    file("f", 300'000);
    alice.use->charge(300'000 + kName);
    return bridge::Descriptor(::open((folder / "f").c_str(), O_RDONLY));
  };
  {
    const bridge::Descriptor descriptor = make_open();
    const auto counted = alice.use->open(descriptor);
    remove(alice, at("f"));
  }
  const bridge::Descriptor again = make_open();
  auto counted = alice.use->open(again);
  EXPECT_EQ(room(alice), kLimit - 300'000 - kName);
  counted.close();
  EXPECT_EQ(room(alice), kLimit - 300'000 - kName) << "it has its name";
}

TEST_F(DirectoryUsed, IsNothingWhereItCannotBeCounted) {
  file("closed/f", 1);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(folder.path() / "closed", std::filesystem::perms::none);
  DirectoryLimit alice = not_counted();
  Status failed;
  {
    const test::OrdinaryUser user;
    failed = alice.await_count();
  }
  std::filesystem::permissions(folder.path() / "closed", std::filesystem::perms::owner_all);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::local_read_failed);
  EXPECT_EQ(failed.error().errno_value, EACCES);
  EXPECT_THAT(failed.error().message(), HasSubstr("list " + (folder / "closed") + ": permission denied"));
  EXPECT_TRUE(alice.await_count()) << "once it can be";
}

TEST_F(DirectoryUsed, IsRefusedWhereNoThreadCanBeHad) {
  Status failed;
  {
    const test::NoThreads none;
    failed = not_counted().await_count();
  }
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::out_of_resources);
  EXPECT_THAT(failed.error().message(), HasSubstr("start a thread that counts"));
}

TEST_F(DirectoryUsed, GivesBackWhatARenameHasReplaced) {
  const DirectoryLimit alice = limit();
  file("old", 300'000);
  file("new", 100'000);
  alice.use->charge(400'000 + 2 * kName);
  EXPECT_TRUE(alice.use->rename(at("new"), at("old")));
  EXPECT_EQ(room(alice), kLimit - 100'000 - kName);
  EXPECT_FALSE(alice.use->rename(at("new"), at("old"))) << "it is not there";
  EXPECT_EQ(room(alice), kLimit - 100'000 - kName);
}

TEST_F(DirectoryUsed, GivesBackTheSizeOfAFileWithItsLastNameAlone) {
  const DirectoryLimit alice = limit();
  file("one", 300'000);
  std::filesystem::create_hard_link(folder.path() / "one", folder.path() / "other");
  alice.use->charge(300'000 + 2 * kName);
  EXPECT_TRUE(alice.use->rename(at("one"), at("other"))) << "does nothing, where both are one file";
  EXPECT_EQ(room(alice), kLimit - 300'000 - 2 * kName);
  remove(alice, at("one"));
  EXPECT_EQ(room(alice), kLimit - 300'000 - kName);
  remove(alice, at("other"));
  EXPECT_EQ(room(alice), kLimit);
}

TEST_F(DirectoryUsed, ChangesOtherNamesWhileTheDiskIsSlowWithOne) {
  const DirectoryLimit alice = limit();
  for (const char* name : {"slow", "one", "other"}) file(name, 10);
  alice.use->charge(30 + 3 * kName);
  const bridge::Descriptor descriptor(::open((folder / "one").c_str(), O_RDONLY));
  std::future<bool> meanwhile, same;
  EXPECT_TRUE(alice.use->remove(at("slow"), [&] {
    meanwhile = std::async(std::launch::async, [&] {
      const auto opened = alice.use->open(descriptor);
      return alice.use->rename(at("one"), at("other")).has_value();
    });
    EXPECT_EQ(meanwhile.wait_for(std::chrono::seconds(10)), std::future_status::ready) << "it waits for the first";
    same = std::async(std::launch::async, [&] { return alice.use->rename(at("other"), at("slow")).has_value(); });
    EXPECT_EQ(same.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout) << "it may release it, too";
    at("slow").remove();
    return Status();
  }));
  EXPECT_TRUE(meanwhile.get() && same.get());
  EXPECT_EQ(room(alice), kLimit - 10 - kName);
}

TEST_F(DirectoryUsed, IsNotTooLittleWhereThreadsReplaceAndRemoveTheSameNames) {
  constexpr int kThreads = 4, kRounds = 500;
  const DirectoryLimit alice = limit();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string own = "own" + std::to_string(thread), shared = "shared" + std::to_string(round % 2);
        file(own, 1);
        alice.use->charge(1 + kName);
        if (round % 5 == 0) remove(alice, at(shared));
        std::ignore = alice.use->rename(at(own), at(shared));
      }
    });
  for (std::thread& each : threads) each.join();
  const auto counted = count_directory(FileTree::open(folder.path()).value(), [] { return true; });
  EXPECT_GE(alice.use->used(), counted->bytes) << "never too little";
}

TEST_F(DirectoryUsed, GivesBackNothingThatIsStillThere) {
  const DirectoryLimit alice = limit();
  file("full/f", 10);
  alice.use->charge(10 + 2 * kName);
  EXPECT_FALSE(alice.use->remove(at("full"), [] { return Status(fail(Errc::local_write_failed, "remove")); }));
  remove(alice, at("full"));  // which is no way to remove a directory
  EXPECT_EQ(room(alice), kLimit - 10 - 2 * kName);
}

TEST_F(DirectoryUsed, CountsAFileThatIsOpenUntilItIsClosed) {
  const DirectoryLimit alice = limit();
  file("f", 300'000);
  alice.use->charge(300'000 + kName);
  const bridge::Descriptor descriptor(::open((folder / "f").c_str(), O_RDONLY));
  auto one = alice.use->open(descriptor), other = alice.use->open(descriptor);
  remove(alice, at("f"));
  EXPECT_EQ(room(alice), kLimit - 300'000 - kName);
  ASSERT_TRUE(alice.reserve(200'000, "write f"));
  DirectoryUse::CountNumber asked;
  ASSERT_TRUE(alice.try_reserve(100'000, "write f", asked, &one)) << "it goes on growing";
  one.close();
  EXPECT_EQ(room(alice), kLimit - 600'000 - kName);
  other.close();
  EXPECT_EQ(room(alice), kLimit - 200'000);
}

TEST_F(DirectoryUsed, CountsAFileThatIsOpenAndHasNoNameInTheNextCount) {
  const DirectoryLimit reader = not_counted();
  file("f", 300'000);
  const bridge::Descriptor descriptor(::open((folder / "f").c_str(), O_RDONLY));
  const auto opened = reader.use->open(descriptor);
  {
    const DirectoryLimit writer = limit();
    remove(writer, at("f"));
  }
  EXPECT_EQ(room(limit()), kLimit - 300'000 - kName);
  std::filesystem::create_directory(folder.path() / "d");
  EXPECT_EQ(room(limit()), kLimit - 300'000 - 2 * kName);
}

TEST_F(DirectoryUsed, CountsAFileThatWasRemovedBeforeItWasKnownToBeOpen) {
  const DirectoryLimit alice = limit();
  file("f", 300'000);
  alice.use->charge(300'000 + kName);
  const bridge::Descriptor descriptor(::open((folder / "f").c_str(), O_RDONLY));
  remove(alice, at("f"));
  EXPECT_EQ(room(alice), kLimit);
  auto opened = alice.use->open(descriptor);
  EXPECT_EQ(room(alice), kLimit - 300'000);
  opened.close();
  EXPECT_EQ(room(alice), kLimit);
}

/// A count that takes long, as there is so much to look at, and is slower than what happens meanwhile.
class DirectoryCounted : public DirectoryUsed {
 protected:
  static constexpr int kMany = 5'000;

  DirectoryCounted() {
    for (int i = 0; i < kMany; ++i) {
      if (i % 1'000 == 0) std::filesystem::create_directory(folder.path() / ("many" + std::to_string(i / 1'000)));
      folder.write("many" + std::to_string(i / 1'000) + "/" + std::to_string(i), {});
    }
  }
  static constexpr std::uint64_t kThere = (kMany + kMany / 1'000) * kName;
};

TEST_F(DirectoryCounted, HasWhatIsGrantedAddedAndMovedMeanwhile) {
  file("moved", 300'000);
  DirectoryLimit alice = not_counted();
  alice.bytes = UINT64_MAX;
  alice.count = alice.use->begin_count();
  const bool is_under_way = !alice.use->result_of(*alice.count);
  EXPECT_TRUE(alice.use->rename(at("moved"), at("elsewhere")));
  const auto granted = alice.reserve(100'000, "write f");
  EXPECT_TRUE(granted);
  ASSERT_TRUE(alice.await_count());
  alice.bytes = kThere + 400'000;
  EXPECT_FALSE(alice.reserve(1, "write f"));
  EXPECT_TRUE(is_under_way) << "else this has tried nothing";
}

TEST_F(DirectoryCounted, IsDoneAgainWhereADirectoryWasMovedMeanwhile) {
  for (int i = 0; i < 100; ++i) file("moved/" + std::to_string(i), 10'000);
  DirectoryLimit alice = not_counted();
  alice.bytes = kThere + 100 * (10'000 + kName);
  alice.count = alice.use->begin_count();
  bool is_there = true;
  while (!alice.use->result_of(*alice.count)) {
    EXPECT_TRUE(alice.use->rename(at(is_there ? "moved" : "away"), at(is_there ? "away" : "moved")));
    is_there = !is_there;
  }
  const Status counted = alice.await_count();
  if (!counted)
    EXPECT_THAT(counted.error().message(), HasSubstr("directories are moved there"));
  else
    EXPECT_FALSE(alice.reserve(1, "write f")) << "nothing is left out";
}

TEST_F(DirectoryCounted, GoesOnWithoutItsWriterAndIsKept) {
  std::ignore = not_counted().use->begin_count();
  while (not_counted().use->counts_so_far() == 0) std::this_thread::yield();
  const DirectoryLimit next = limit();
  EXPECT_EQ(next.use->counts_so_far(), 1U);
  EXPECT_EQ(next.use->used(), kThere);
}

TEST_F(DirectoryCounted, IsDoneOnceForAllThatWait) {
  const DirectoryLimit alice = limit();
  const std::uint64_t before = alice.use->counts_so_far();
  constexpr int kQuestions = 100;
  std::vector<DirectoryUse::CountNumber> asked(kQuestions);
  for (int refused = 0; refused < kQuestions;) {
    refused = 0;
    for (auto& each : asked) refused += alice.try_reserve(kThere, "write f", each) ? 0 : 1;
    std::this_thread::yield();
  }
  EXPECT_LE(alice.use->counts_so_far(), before + 2) << "that which was under way, and the next";
}

TEST_F(DirectoryCounted, IsNotWaitedForWhereTheTransferIsOver) {
  DirectoryLimit alice = not_counted();
  alice.is_over = [] { return true; };
  const Status over = alice.await_count();
  EXPECT_TRUE(over || over.error().code == Errc::interrupted);
}

}  // namespace
}  // namespace udtcat::files
