// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/chunk_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

class ChunkReads : public testing::Test {
 protected:
  /// A file of zeros, with data at these offsets.
  bridge::Descriptor file_of(std::uint64_t bytes, const std::vector<std::uint64_t>& offsets) const {
    bridge::Descriptor file(::open((folder / "f").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(file.number(), static_cast<off_t>(bytes)), 0);
    for (const std::uint64_t offset : offsets) EXPECT_TRUE(files::write_whole_at(file, offset, bytes_of("x"), "f"));
    return file;
  }

  Folder folder;
  std::vector<std::byte> memory;
  const std::string shown = "f";
};

TEST_F(ChunkReads, EndWithAShorterOne) {
  const auto file = file_of(2 * kChunkBytes + 3, {0, kChunkBytes, 2 * kChunkBytes + 1});
  ChunkReader reader(file, 2 * kChunkBytes + 3, memory, shown);
  std::vector<std::uint64_t> sizes;
  for (auto chunk = reader.next().value(); chunk; chunk = reader.next().value()) {
    EXPECT_EQ(chunk->number, sizes.size());
    EXPECT_EQ(chunk->content.size(), chunk->bytes);
    EXPECT_EQ(hash_of(*chunk), hash_of_leaf(chunk->content));
    sizes.push_back(chunk->bytes);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{kChunkBytes, kChunkBytes, 3}));
}

TEST_F(ChunkReads, AreNotReadWhereAHoleFillsThem) {
  const auto file = file_of(4 * kChunkBytes, {2 * kChunkBytes + 5});
  ChunkReader reader(file, 4 * kChunkBytes, memory, shown);
  const files::Digest zeros = hash_of_leaf(std::vector<std::byte>(kChunkBytes));
  for (const bool is_hole : {true, true, false, true}) {
    const auto chunk = reader.next().value();
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->is_hole(), is_hole);
    EXPECT_EQ(hash_of(*chunk) == zeros, is_hole);
  }
  EXPECT_FALSE(reader.next().value());
}

TEST_F(ChunkReads, AreReadWhereAHoleIsTheShortLastOne) {
  const auto file = file_of(kChunkBytes + 7, {0});
  ChunkReader reader(file, kChunkBytes + 7, memory, shown);
  ASSERT_TRUE(reader.next().value());
  const auto last = reader.next().value();
  ASSERT_TRUE(last);
  EXPECT_EQ(hash_of(*last), hash_of_leaf(std::vector<std::byte>(7)));
}

TEST_F(ChunkReads, AreAbsentFromAnEmptyFile) {
  const auto file = file_of(0, {});
  ChunkReader reader(file, 0, memory, shown);
  EXPECT_EQ(reader.next_end(), 0U);
  EXPECT_FALSE(reader.next().value());
}

TEST_F(ChunkReads, FailWhereTheFileIsLongerThanItsSize) {
  const auto file = file_of(kChunkBytes + 1, {0, kChunkBytes});
  ChunkReader reader(file, kChunkBytes, memory, shown);
  ASSERT_TRUE(reader.next().value());
  EXPECT_NE(reader.next().error().message().find("it has more in it than its size tells"), std::string::npos);
  const bridge::Descriptor version(::open("/proc/version", O_RDONLY | O_CLOEXEC));
  ChunkReader of_size_0(version, 0, memory, shown);
  EXPECT_EQ(of_size_0.next().error().code, Errc::local_read_failed);
}

TEST_F(ChunkReads, FailWhereTheFileEndsWithinOne) {
  const auto file = file_of(kChunkBytes + 7, {0, kChunkBytes + 6});
  ChunkReader reader(file, kChunkBytes + 8, memory, shown);
  EXPECT_EQ(reader.next_end(), kChunkBytes);
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.next_end(), kChunkBytes + 8);
  EXPECT_EQ(reader.next().error().code, Errc::local_read_failed);
}

}  // namespace
}  // namespace udtcat::trees
