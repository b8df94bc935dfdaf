// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/leaf_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

class Leaves : public testing::Test {
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

TEST_F(Leaves, AreThoseOfTheFileAndTheLastOneIsItsRest) {
  const auto file = file_of(2 * kLeafBytes + 3, {0, kLeafBytes, 2 * kLeafBytes + 1});
  LeafReader reader(file, 2 * kLeafBytes + 3, memory, shown);
  std::vector<std::uint64_t> sizes;
  for (auto leaf = reader.next().value(); leaf; leaf = reader.next().value()) {
    EXPECT_EQ(leaf->number, sizes.size());
    EXPECT_EQ(leaf->content.size(), leaf->bytes);
    EXPECT_EQ(hash_of(*leaf), hash_of_leaf(leaf->content));
    sizes.push_back(leaf->bytes);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{kLeafBytes, kLeafBytes, 3}));
}

TEST_F(Leaves, AreNotReadWhereAHoleFillsThem) {
  const auto file = file_of(4 * kLeafBytes, {2 * kLeafBytes + 5});
  LeafReader reader(file, 4 * kLeafBytes, memory, shown);
  const files::Digest zeros = hash_of_leaf(std::vector<std::byte>(kLeafBytes));
  for (const bool is_hole : {true, true, false, true}) {
    const auto leaf = reader.next().value();
    ASSERT_TRUE(leaf);
    EXPECT_EQ(leaf->is_hole(), is_hole);
    EXPECT_EQ(hash_of(*leaf) == zeros, is_hole);
  }
  EXPECT_FALSE(reader.next().value());
}

TEST_F(Leaves, AreReadWhereAHoleIsTheShortLastOne) {
  const auto file = file_of(kLeafBytes + 7, {0});
  LeafReader reader(file, kLeafBytes + 7, memory, shown);
  ASSERT_TRUE(reader.next().value());
  const auto last = reader.next().value();
  ASSERT_TRUE(last);
  EXPECT_EQ(hash_of(*last), hash_of_leaf(std::vector<std::byte>(7)));
}

TEST_F(Leaves, AreNoneOfAnEmptyFile) {
  const auto file = file_of(0, {});
  LeafReader reader(file, 0, memory, shown);
  EXPECT_EQ(reader.next_end(), 0U);
  EXPECT_FALSE(reader.next().value());
}

TEST_F(Leaves, AreNotAllWhereTheFileHasMoreInItThanItsSizeTells) {
  const auto file = file_of(kLeafBytes + 1, {0, kLeafBytes});
  LeafReader reader(file, kLeafBytes, memory, shown);
  ASSERT_TRUE(reader.next().value());
  EXPECT_NE(reader.next().error().message().find("it has more in it than its size tells"), std::string::npos);
  const bridge::Descriptor version(::open("/proc/version", O_RDONLY | O_CLOEXEC));
  LeafReader of_size_0(version, 0, memory, shown);
  EXPECT_EQ(of_size_0.next().error().code, Errc::local_read_failed);
}

TEST_F(Leaves, CannotBeReadWhereTheFileEndsWithinThem) {
  const auto file = file_of(kLeafBytes + 7, {0, kLeafBytes + 6});
  LeafReader reader(file, kLeafBytes + 8, memory, shown);
  EXPECT_EQ(reader.next_end(), kLeafBytes);
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.next_end(), kLeafBytes + 8);
  EXPECT_EQ(reader.next().error().code, Errc::local_read_failed);
}

}  // namespace
}  // namespace udtcat::trees
