// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/sparse.hpp"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <thread>

#include "files/whole_io.hpp"
#include "support/failing_calls.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

constexpr std::uint64_t kStep = 1'048'576;

class Holes : public testing::Test {
 protected:
  /// A file of ten steps, with a byte in each of these.
  bridge::Descriptor file_with(const std::vector<std::uint64_t>& steps) const {
    bridge::Descriptor file(::open((folder / "f").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(file.number(), 10 * kStep), 0);
    for (const std::uint64_t step : steps)
      EXPECT_TRUE(files::write_whole_at(file, step * kStep + kStep / 2, bytes_of("x"), "f"));
    return file;
  }
  static std::vector<std::uint64_t> data_of(const bridge::Descriptor& file, std::uint64_t steps = 10) {
    SparseMap map(file, steps * kStep);
    std::vector<std::uint64_t> data;
    for (std::uint64_t step = 0; step < steps; ++step)
      if (!map.is_hole(step * kStep, kStep)) data.push_back(step);
    return data;
  }

  Folder folder;
};

TEST_F(Holes, AreAllThatWasNeverWritten) {
  using Steps = std::vector<std::uint64_t>;
  for (const Steps& steps : {Steps{}, Steps{0}, Steps{9}, Steps{3, 4, 8}, Steps{0, 2, 4, 6, 8}}) {
    const auto file = file_with(steps);
    EXPECT_EQ(data_of(file), steps);
  }
}

TEST_F(Holes, AreNotBelievedWhereOneByteOfDataIs) {
  const auto file = file_with({5});
  SparseMap map(file, 10 * kStep);
  EXPECT_TRUE(map.is_hole(0, kStep));
  EXPECT_FALSE(map.is_hole(4 * kStep, 2 * kStep));
  EXPECT_FALSE(map.is_hole(5 * kStep, kStep));
  EXPECT_TRUE(map.is_hole(6 * kStep, 4 * kStep));
}

TEST_F(Holes, AreBlocksThatWereNeverWrittenWhereTheExtentsSaySo) {
  const auto file = file_with({7});
  ASSERT_EQ(::fallocate(file.number(), 0, 0, 4 * kStep), 0);
  struct stat status {};
  ASSERT_EQ(::fstat(file.number(), &status), 0);
  fiemap none{};
  none.fm_length = kStep;
  if (::ioctl(file.number(), FS_IOC_FIEMAP, &none) != 0) GTEST_SKIP() << "no file system with a list of extents";
  EXPECT_EQ(data_of(file), (std::vector<std::uint64_t>{7}));
}

/// Such blocks are a hole to lseek(2), as all is on a file system that tells wrong of them.
TEST(HolesInMemory, AreNoneWhereBlocksContradictThemAndNothingSpeaksForThem) {
  const bridge::Descriptor file(::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  struct statfs system {};
  if (!file.is_open() || ::fstatfs(file.number(), &system) != 0 || system.f_type != TMPFS_MAGIC)
    GTEST_SKIP() << "no tmpfs";
  ASSERT_EQ(::ftruncate(file.number(), 10 * kStep), 0);
  SparseMap empty(file, 10 * kStep);
  EXPECT_TRUE(empty.is_hole(0, 10 * kStep));
  ASSERT_EQ(::fallocate(file.number(), 0, 0, 4 * kStep), 0);
  SparseMap map(file, 10 * kStep);
  for (std::uint64_t step = 0; step < 10; ++step) EXPECT_FALSE(map.is_hole(step * kStep, kStep)) << step;
}

TEST_F(Holes, AreAbsentFromAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const bridge::Descriptor reads(ends[0]);
  const bridge::Descriptor writes(ends[1]);
  EXPECT_EQ(data_of(reads, 2), (std::vector<std::uint64_t>{0, 1}));
}

TEST_F(Holes, AreNoneWhereTheSystemContradictsItself) {
  const auto file = file_with({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::thread([&] {
    test::fail_calls({SYS_lseek}, ENXIO);  // "nothing follows", which may be said of a hole alone
    SparseMap map(file, 10 * kStep);
    EXPECT_FALSE(map.is_hole(0, kStep));
  }).join();
}

}  // namespace
}  // namespace udtcat::trees
