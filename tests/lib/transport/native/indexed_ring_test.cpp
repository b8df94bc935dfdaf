#include "lib/transport/native/indexed_ring.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

TEST(IndexedRing, KeepsTheNumberOfEachElement) {
  IndexedRing<std::uint64_t> ring;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ring.push_back(i);
    if (i % 3 == 2) ring.pop_front();
    ASSERT_EQ(ring[ring.begin_index()], ring.begin_index());
    ASSERT_EQ(ring[i], i);
  }
  EXPECT_EQ(ring.size(), ring.end_index() - ring.begin_index());
  EXPECT_FALSE(ring.contains(ring.begin_index() - 1));
  EXPECT_FALSE(ring.contains(ring.end_index()));
  EXPECT_FALSE(ring.contains(UINT64_MAX));
}

TEST(IndexedRing, LetsGoOfWhatLeaves) {
  IndexedRing<std::shared_ptr<int>> ring;
  const auto held = ring.push_back(std::make_shared<int>(1));
  ring.pop_front();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace udtcat::transport::native
