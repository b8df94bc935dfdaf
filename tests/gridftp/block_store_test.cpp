#include "gridftp/block_store.hpp"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

class BlockStores : public testing::Test {
 protected:
  ~BlockStores() override { std::filesystem::remove_all(directory); }

  std::string directory = [] {
    std::string name = std::filesystem::temp_directory_path() / "udtcat-store-XXXXXX";  // mkdtemp() fills in the X
    return std::string(::mkdtemp(name.data()));
  }();
  std::string path = directory + "/file";
  std::vector<std::byte> bytes = std::vector<std::byte>(1000, std::byte{7});
};

TEST_F(BlockStores, GiveAFileItsNameWhenItIsWhole) {
  const auto store = BlockStore::open_to_write(path);
  ASSERT_TRUE(store);
  EXPECT_TRUE(store->write_at(500, bytes));
  EXPECT_TRUE(store->write_at(0, std::span(bytes).first(500)));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(store->publish(1400));
  EXPECT_EQ(std::filesystem::file_size(path), 1400U);
  const auto back = BlockStore::open_to_read(path);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->size(), 1400U);
  std::vector<std::byte> got(2000);
  EXPECT_EQ(back->read_at(1000, got).value(), 400U) << "up to the end";
  EXPECT_EQ(got[399], std::byte{7});
}

TEST_F(BlockStores, WriteADeviceItself) {
  const auto store = BlockStore::open_to_write("/dev/null");
  ASSERT_TRUE(store);
  EXPECT_TRUE(store->write_at(1'000'000, bytes));
  EXPECT_TRUE(store->publish(1'000));
  EXPECT_FALSE(BlockStore::open_to_read("/dev/null").value().size());
}

TEST_F(BlockStores, NameWhatCannotBeOpenedOrWritten) {
  EXPECT_EQ(BlockStore::open_to_read(path).error().code, Errc::local_read_failed);
  EXPECT_EQ(BlockStore::open_to_read(directory).error().code, Errc::local_read_failed);
  EXPECT_EQ(BlockStore::open_to_write(directory).error().code, Errc::local_write_failed);
  EXPECT_EQ(BlockStore::open_to_write("/no/such/place").error().code, Errc::local_write_failed);
  EXPECT_EQ(BlockStore::open_to_write("/dev/full").value().write_at(0, bytes).error().code, Errc::local_write_failed);
}

}  // namespace
}  // namespace udtcat::gridftp
