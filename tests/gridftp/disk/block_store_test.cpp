// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/block_store.hpp"

#include <cerrno>

#include <sys/stat.h>

#include "gridftp/disk/failing_calls.hpp"
#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

class BlockStores : public testing::Test {
 protected:
  [[nodiscard]] std::size_t stored_bytes(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat((folder / name).c_str(), &status), 0);
    constexpr std::size_t kBlock = 512;  // spec: stat(2)
    return static_cast<std::size_t>(status.st_blocks) * kBlock;
  }

  /// As of a transfer that was killed.
  void leave_beginning() const {
    const auto store = BlockStore::open_to_write(location);
    EXPECT_TRUE(store && store->write_at(0, bytes));
  }

  Folder folder;
  const files::FileLocation location = files::FileLocation(folder / "file");
  const Bytes bytes = Bytes(1000, std::byte{7});
};

TEST_F(BlockStores, GiveAFileItsNameWhenItIsWhole) {
  const auto store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store);
  EXPECT_TRUE(store->write_at(500, bytes));
  EXPECT_TRUE(store->write_at(0, std::span(bytes).first(500)));
  EXPECT_FALSE(folder.has("file"));
  EXPECT_TRUE(store->publish(1400));
  EXPECT_EQ(folder.read("file").size(), 1400U);
  const auto back = BlockStore::open_to_read(location);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->size(), 1400U);
  Bytes got(2000);
  EXPECT_EQ(back->read_at(1000, got).value(), 400U) << "up to the end";
  EXPECT_EQ(got[399], std::byte{7});
}

TEST_F(BlockStores, LeaveHolesWhereZerosComeFirst) {
  Bytes content = random_bytes(100'000);
  content.resize(10'000'000);
  content.back() = std::byte{1};
  const auto store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store);
  // In pieces that begin and end anywhere, as connections bring them, the last one first.
  constexpr std::size_t kPiece = 70'001;
  for (std::size_t at = content.size() / kPiece * kPiece;; at -= kPiece) {
    EXPECT_TRUE(store->write_first(at, std::span(content).subspan(at, std::min(kPiece, content.size() - at))));
    if (at == 0) break;
  }
  EXPECT_TRUE(store->publish(content.size()));
  EXPECT_TRUE(folder.read("file") == content);
  EXPECT_LT(stored_bytes("file"), 200'000U);
}

TEST_F(BlockStores, WriteZerosOverWhatWasThere) {
  leave_beginning();
  auto store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store && store->write_first(0, Bytes(2000)) && store->publish(2000));
  EXPECT_TRUE(folder.read("file") == Bytes(2000));
  leave_beginning();
  store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store);
  store->clear();
  EXPECT_TRUE(store->write_first(0, Bytes(500)) && store->publish(500));
  EXPECT_TRUE(folder.read("file") == Bytes(500));
}

TEST_F(BlockStores, ReachAsFarAsTheirLastHole) {
  const auto store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store && store->write_first(0, Bytes(5000)));
  EXPECT_EQ(store->size(), 0U);
  EXPECT_TRUE(store->reach(5000) && store->reach(1000));
  EXPECT_EQ(store->size(), 5000U);
}

TEST_F(BlockStores, ReachWithoutAByteThatWouldReplaceWhatIsWrittenMeanwhile) {
  EXPECT_TRUE(holds_in_a_child([&] {
    const auto store = BlockStore::open_to_write(location);
    return store && fail_calls(SYS_pwrite64, EIO) && store->reach(5000) && store->size() == 5000U;
  }));
}

TEST_F(BlockStores, ReachAsFarWhereTheFileSystemCannotSetSpaceAside) {
  EXPECT_TRUE(holds_in_a_child([&] {
    const auto store = BlockStore::open_to_write(location);
    return fail_calls(SYS_fallocate, EOPNOTSUPP) && store && store->reach(5000) && store->size() == 5000U;
  }));
}

TEST_F(BlockStores, LetOneTransferWriteAFileAtATime) {
  auto first = BlockStore::open_to_write(location);
  ASSERT_TRUE(first);
  const auto second = BlockStore::open_to_write(location);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find("another transfer"), std::string::npos) << second.error().message();
  first = fail(Errc::interrupted, "write", "over");
  EXPECT_TRUE(BlockStore::open_to_write(location)) << "once the first has ended";
}

TEST_F(BlockStores, KeepWhatAnEarlierTransferLeft) {
  leave_beginning();
  const auto store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->size(), 1000U);
  EXPECT_TRUE(store->publish(1000));
  EXPECT_TRUE(folder.read("file") == bytes);
}

TEST_F(BlockStores, LeaveTheOldFileWhereTheNewOneIsDiscarded) {
  folder.write("file", bytes);
  const auto store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store && store->write_at(0, std::span(bytes).first(10)));
  store->discard();
  EXPECT_TRUE(folder.read("file") == bytes);
  EXPECT_FALSE(folder.has("file.part"));
}

TEST_F(BlockStores, WriteInPlaceWithoutTouchingTheRest) {
  folder.write("file", Bytes(2000));
  const auto store = BlockStore::open_in_place(location);
  ASSERT_TRUE(store && store->write_at(500, bytes) && store->publish(1500));
  EXPECT_EQ(folder.read("file").size(), 2000U);
  EXPECT_EQ(folder.read("file")[1499], std::byte{7});
  EXPECT_EQ(folder.read("file")[1500], std::byte{0});
  store->discard();
  EXPECT_TRUE(folder.has("file"));
  EXPECT_TRUE(BlockStore::open_in_place(files::FileLocation(folder / "new")));
  EXPECT_TRUE(folder.has("new"));
}

TEST_F(BlockStores, LeaveNoEmptyFileThatTheyMadeInPlace) {
  const auto make = [&] { return BlockStore::open_in_place(location); };
  make()->discard();
  EXPECT_FALSE(folder.has("file"));
  const auto written = make();
  EXPECT_TRUE(written->is_made() && written->write_at(0, bytes));
  written->discard();
  EXPECT_TRUE(folder.has("file")) << "some of it is there";
  folder.write("file", {});
  const auto found = make();
  EXPECT_FALSE(found->is_made());
  found->discard();
  EXPECT_TRUE(folder.has("file")) << "it was there before";
}

TEST_F(BlockStores, WriteIntoNoFileThatHasAnotherNameToo) {
  folder.write("file", bytes);
  std::filesystem::create_hard_link(folder / "file", folder / "other");
  const auto store = BlockStore::open_in_place(location);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message().find("it has 2 names"), std::string::npos) << store.error().message();
  const auto anew = BlockStore::open_to_write(location);
  ASSERT_TRUE(anew && anew->write_at(0, Bytes(5)) && anew->publish(5)) << "as a new file it may come";
  EXPECT_TRUE(folder.read("other") == bytes);
}

TEST_F(BlockStores, PutNothingInPlaceButWhatTheyWrote) {
  auto store = BlockStore::open_to_write(location);
  ASSERT_TRUE(store && store->write_at(0, bytes) && store->complete(1000));
  std::filesystem::remove(folder / "file.part");
  folder.write("file.part", Bytes(3));
  EXPECT_FALSE(store->put_in_place());
  store->discard();
  EXPECT_FALSE(folder.has("file"));
  EXPECT_TRUE(folder.read("file.part") == Bytes(3)) << "it is somebody else's";
}

TEST_F(BlockStores, AreNotWholeWhereCloseTellsOfAnError) {
  folder.write("file", bytes);
  EXPECT_TRUE(holds_in_a_child([&] {
    const auto store = BlockStore::open_to_write(location);
    if (!store || !store->write_at(0, Bytes(5)) || !fail_calls(SYS_close, EDQUOT)) return false;
    const auto published = store->publish(5);
    return !published && published.error().message().find("uota") != std::string::npos;
  }));
  EXPECT_TRUE(folder.read("file") == bytes) << "the old one stays";
}

TEST_F(BlockStores, ArePublishedWhenTheirNameIsOnTheDisk) {
  EXPECT_TRUE(holds_in_a_child([&] {
    const auto store = BlockStore::open_to_write(location);
    if (!store || !store->write_at(0, bytes) || !fail_calls(SYS_fsync, EIO)) return false;
    const auto published = store->publish(bytes.size());
    return !published && published.error().message().find("store the name") != std::string::npos;
  }));
  EXPECT_TRUE(folder.read("file") == bytes) << "a power cut may take it back, and nothing else";
}

TEST_F(BlockStores, AreInPlaceWhenTheNameThatTheyMadeIsOnTheDisk) {
  EXPECT_TRUE(holds_in_a_child([&] {
    const auto store = BlockStore::open_in_place(location);
    if (!store || !store->write_at(0, bytes) || !fail_calls(SYS_fsync, EIO)) return false;
    const auto published = store->publish(bytes.size());
    return !published && published.error().message().find("store the name") != std::string::npos;
  }));
}

TEST_F(BlockStores, HaveTheirSizeOrSaySo) {
  const auto status_file = BlockStore::open_to_read(files::FileLocation("/proc/self/status"));
  ASSERT_TRUE(status_file);
  const auto more = status_file->has_its_size(std::nullopt);
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message().find("more than the 0 bytes"), std::string::npos) << more.error().message();
  folder.write("file", bytes);
  const auto file = BlockStore::open_to_read(location);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->has_its_size(std::nullopt));
  EXPECT_TRUE(file->has_its_size(1000));
  EXPECT_FALSE(file->has_its_size(999));
}

TEST_F(BlockStores, WriteADeviceItself) {
  const auto store = BlockStore::open_to_write(files::FileLocation("/dev/null"));
  ASSERT_TRUE(store);
  EXPECT_TRUE(store->write_at(1'000'000, bytes));
  EXPECT_TRUE(store->publish(1'000));
  EXPECT_FALSE(BlockStore::open_to_read(files::FileLocation("/dev/null")).value().size());
}

TEST_F(BlockStores, NameWhatCannotBeOpenedOrWritten) {
  const auto to_read = [](const std::string& path) {
    return BlockStore::open_to_read(files::FileLocation(path)).error().code;
  };
  const auto to_write = [](const std::string& path) {
    return BlockStore::open_to_write(files::FileLocation(path)).error().code;
  };
  EXPECT_EQ(to_read(folder / "none"), Errc::local_read_failed);
  EXPECT_EQ(to_read(folder.path()), Errc::local_read_failed);
  EXPECT_EQ(to_write(folder.path()), Errc::local_write_failed);
  EXPECT_EQ(to_write("/no/such/place"), Errc::local_write_failed);
  const auto full = BlockStore::open_to_write(files::FileLocation("/dev/full"));
  EXPECT_EQ(full.value().write_at(0, bytes).error().code, Errc::local_write_failed);
}

TEST_F(BlockStores, DoNotWaitForTheOtherEndOfAPipe) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto read = BlockStore::open_to_read(files::FileLocation(folder / "pipe"));
  EXPECT_EQ(read.error().code, Errc::local_read_failed);
  EXPECT_NE(read.error().message().find("it is a pipe, and no file"), std::string::npos);
  const auto write = BlockStore::open_to_write(files::FileLocation(folder / "pipe"));
  EXPECT_NE(write.error().message().find("it is a named pipe"), std::string::npos) << write.error().message();
}

}  // namespace
}  // namespace udtcat::gridftp
