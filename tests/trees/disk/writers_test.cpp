// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/writers.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

class FileWriters : public testing::Test {
 protected:
  [[nodiscard]] bridge::Descriptor open(int flags) const {
    return bridge::Descriptor(::open((folder / "f").c_str(), flags | O_CLOEXEC));
  }
  void SetUp() override { folder.write("f", bytes_of("content")); }

  Folder folder;
};

TEST_F(FileWriters, AreAbsentFromAFileThatIsOpenForReading) {
  const auto reader = open(O_RDONLY);
  const auto another = open(O_RDONLY);
  EXPECT_EQ(writers_of(reader), Writers::none);
}

TEST_F(FileWriters, IncludeAProgramThatHasItOpenForWriting) {
  const auto reader = open(O_RDONLY);
  auto writer = open(O_WRONLY);
  EXPECT_EQ(writers_of(reader), Writers::some);
  std::ignore = writer.close();
  EXPECT_EQ(writers_of(reader), Writers::none);
}

TEST_F(FileWriters, IncludeAProgramThatHasItMapped) {
  const auto reader = open(O_RDONLY);
  auto writer = open(O_RDWR);
  void* mapping = ::mmap(nullptr, 7, PROT_READ | PROT_WRITE, MAP_SHARED, writer.number(), 0);
  ASSERT_NE(mapping, MAP_FAILED);
  std::ignore = writer.close();
  EXPECT_EQ(writers_of(reader), Writers::some);
  ::munmap(mapping, 7);
  EXPECT_EQ(writers_of(reader), Writers::none);
}

TEST_F(FileWriters, AreNoticedWhileTheyWait) {
  const auto reader = open(O_RDONLY);
  const QuietFile quiet(reader);
  EXPECT_TRUE(quiet.is_quiet());
  EXPECT_FALSE(open(O_WRONLY | O_NONBLOCK).is_open()) << "the lease stands in its way";
  EXPECT_FALSE(quiet.is_quiet());
}

TEST_F(FileWriters, AreLetInOnceTheLeaseEnds) {
  const auto reader = open(O_RDONLY);
  { const QuietFile quiet(reader); }
  EXPECT_TRUE(open(O_WRONLY | O_NONBLOCK).is_open());
}

TEST_F(FileWriters, LeaveATraceOfStoresThroughAMappingOnceThoseAreExposed) {
  const auto reader = open(O_RDONLY);
  const auto writer = open(O_RDWR);
  auto* mapping = static_cast<char*>(::mmap(nullptr, 7, PROT_READ | PROT_WRITE, MAP_SHARED, writer.number(), 0));
  ASSERT_NE(static_cast<void*>(mapping), MAP_FAILED);
  mapping[0] = 'x';
  if (!write_back(reader)) GTEST_SKIP() << "this file system has no such call";
  const timespec old[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::futimens(writer.number(), old), 0);
  mapping[0] = 'y';
  struct stat status {};
  ASSERT_EQ(::fstat(reader.number(), &status), 0);
  EXPECT_GT(status.st_mtim.tv_sec, 1);
  ::munmap(mapping, 7);
}

}  // namespace
}  // namespace udtcat::trees
