// SPDX-License-Identifier: Apache-2.0
#include "trees/size_scan.hpp"

#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "files/folder.hpp"

namespace udtcat::trees {
namespace {

TEST(SizeScan, CountsNamesAndTheBytesOfEachFileOnce) {
  const files::Folder folder;
  std::filesystem::create_directories(folder / "d/e");
  folder.write("d/f", files::Bytes(1'000));
  std::filesystem::create_hard_link(folder / "d/f", folder / "d/e/again");
  folder.write("g", files::Bytes(7));
  std::filesystem::resize_file(folder / "g", 1ULL << 40);
  std::filesystem::create_symlink("f", folder / "d/link");
  std::promise<Totals> counted;
  const SizeScan scan(Source::of_tree(files::FileTree::open(folder.path()).value(), {}).value(),
                      [&](const Totals& totals) { counted.set_value(totals); });
  const Totals totals = counted.get_future().get();
  EXPECT_EQ(totals.entries, 7U);
  EXPECT_EQ(totals.bytes, (1ULL << 40) + 1'000);
}

TEST(SizeScan, StopsAtOnceWhenItIsDestroyed) {
  bool is_counted = false;
  {
    const SizeScan scan(Source::of_arguments({"/"}).value(), [&](const Totals&) { is_counted = true; });
  }
  EXPECT_FALSE(is_counted);
}

}  // namespace
}  // namespace udtcat::trees
