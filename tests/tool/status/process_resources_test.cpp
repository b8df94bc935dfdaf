// SPDX-License-Identifier: Apache-2.0
#include "tool/status/process_resources.hpp"

#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "lib/bridge/descriptor.hpp"
#include "support/scale.hpp"

namespace udtcat::tool {
namespace {

TEST(ProcessResources, CountTheDescriptorsThatAreOpen) {
  const std::uint64_t before = process_resources().open_descriptors;
  std::vector<bridge::Descriptor> more;
  for (int i = 0; i < 10; ++i) more.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(process_resources().open_descriptors, before + 10);
  more.clear();
  EXPECT_EQ(process_resources().open_descriptors, before);
}

TEST(ProcessResources, KnowTheMemoryAndTheLimit) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const ProcessResources resources = process_resources();
  EXPECT_EQ(resources.max_descriptors, limit.rlim_cur);
  EXPECT_GT(resources.memory_bytes, 100'000U);
}

TEST(ProcessResources, GiveBackWhatWasFreed) {
  if (test::kSanitized) GTEST_SKIP() << "the allocators of the sanitizers keep what was freed";
  constexpr std::size_t kPieceBytes = 4096;
  std::vector<std::vector<char>> pieces;
  for (int i = 0; i < 10'000; ++i) pieces.emplace_back(kPieceBytes, 'x');
  const std::uint64_t held = process_resources().memory_bytes;
  // Those between stay, so that malloc() finds no end that it would give back by itself.
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (i % 100 != 99) std::vector<char>().swap(pieces[i]);
  release_freed_memory();
  EXPECT_LT(process_resources().memory_bytes, held - pieces.size() * kPieceBytes / 2);
}

}  // namespace
}  // namespace udtcat::tool
