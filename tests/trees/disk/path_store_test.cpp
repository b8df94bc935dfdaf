// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/path_store.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

TEST(PathStore, ReturnsThePathsThatWereAdded) {
  PathStore store;
  const std::string long_word(255, '\xff');
  const std::vector<std::string> paths{".",   "a",   "a/b",     "b",       "a/b/c",
                                       "b/a", "a b", "\n/\x01", long_word, long_word + "/a"};
  std::vector<PathStore::Number> numbers;
  for (const std::string& path : paths) numbers.push_back(store.add(path));
  for (std::size_t at = 0; at < paths.size(); ++at) {
    EXPECT_EQ(store.path(numbers[at]), paths[at]);
    EXPECT_EQ(store.add(paths[at]), numbers[at]) << "the same path";
  }
}

TEST(PathStore, KeepsManyPathsOfOneDirectoryInLittleMemory) {
  PathStore store;
  std::string directory;
  for (int depth = 0; depth < 11; ++depth) directory += std::string(250, static_cast<char>('a' + depth)) + '/';
  constexpr int kPaths = 100'000;
  std::vector<PathStore::Number> numbers;
  for (int number = 0; number < kPaths; ++number) numbers.push_back(store.add(directory + std::to_string(number)));
  for (int number = 0; number < kPaths; number += 999)
    EXPECT_EQ(store.path(numbers[static_cast<std::size_t>(number)]), directory + std::to_string(number));
  EXPECT_LT(store.bytes(), std::size_t{kPaths} * 50);
}

}  // namespace
}  // namespace udtcat::trees
