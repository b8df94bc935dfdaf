// SPDX-License-Identifier: Apache-2.0
#include "files/byte_ranges.hpp"

#include <bitset>
#include <random>

#include <gtest/gtest.h>

namespace udtcat::files {
namespace {

TEST(ByteRanges, KnowWhetherTheyTouchARange) {
  const auto ranges = ByteRanges::parse("10-20,30-40").value();
  for (const ByteRange& touched :
       {ByteRange{10, 11}, ByteRange{19, 25}, ByteRange{5, 11}, ByteRange{20, 31}, ByteRange{0, 50}})
    EXPECT_TRUE(ranges.touches(touched)) << touched.begin;
  for (const ByteRange& clear : {ByteRange{0, 10}, ByteRange{20, 30}, ByteRange{40, 50}, ByteRange{25, 25}})
    EXPECT_FALSE(ranges.touches(clear)) << clear.begin;
}

ByteRanges ranges_of(std::string_view text) { return ByteRanges::parse(text).value(); }

TEST(ByteRanges, JoinWhatOverlapsAndWhatTouches) {
  ByteRanges ranges = ranges_of("10-20,30-40");
  EXPECT_TRUE(ranges.add({20, 25}));
  EXPECT_EQ(ranges.to_text(), "10-25,30-40");
  EXPECT_TRUE(ranges.add({5, 30}));
  EXPECT_EQ(ranges.to_text(), "5-40");
  EXPECT_EQ(ranges.bytes(), 35U);
  EXPECT_TRUE(ranges.add({7, 7}));
  EXPECT_TRUE(ranges.add({9, 8}));
  EXPECT_EQ(ranges.to_text(), "5-40") << "empty ones change nothing";
}

TEST(ByteRanges, EndWhereTheLastRangeEnds) {
  EXPECT_EQ(ByteRanges().end(), 0U);
  EXPECT_EQ(ranges_of("10-20,30-40").end(), 40U);
}

TEST(ByteRanges, SayWhatIsMissing) {
  const ByteRanges ranges = ranges_of("10-20,30-40");
  EXPECT_EQ(ranges.missing_from({0, 50}), (std::vector<ByteRange>{{0, 10}, {20, 30}, {40, 50}}));
  EXPECT_EQ(ranges.missing_from({12, 35}), (std::vector<ByteRange>{{20, 30}}));
  EXPECT_TRUE(ranges.missing_from({12, 20}).empty());
  EXPECT_EQ(ranges.contiguous_from(10), 20U);
  EXPECT_EQ(ranges.contiguous_from(20), 20U);
  EXPECT_TRUE(ranges.contains({11, 20}));
  EXPECT_FALSE(ranges.contains({11, 21}));
}

TEST(ByteRanges, AreWhatASetOfBytesIs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    ByteRanges ranges;
    std::bitset<64> bytes;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t begin = random() % 60;
      const std::uint64_t end = begin + random() % 5;
      ASSERT_TRUE(ranges.add({begin, end}));
      for (auto at = begin; at < end; ++at) bytes.set(at);
      ASSERT_EQ(ranges.bytes(), bytes.count());
    }
    std::size_t missing = 0;
    for (const ByteRange& range : ranges.missing_from({0, 64})) missing += range.bytes();
    ASSERT_EQ(missing, 64 - bytes.count());
    ASSERT_EQ(ranges_of(ranges.to_text()).ranges(), ranges.ranges());
  }
}

TEST(ByteRanges, ReachToTheLastByteThatCanBeNamed) {
  ByteRanges ranges;
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_TRUE(ranges.add({most - 1, most}));
  EXPECT_TRUE(ranges.add({0, 1}));
  EXPECT_EQ(ranges.missing_from({0, most}), (std::vector<ByteRange>{{1, most - 1}}));
}

TEST(ByteRanges, AreReadAsGlobusWritesThem) {
  EXPECT_EQ(ranges_of(" 0-1048576, 2097152-3145728 ").to_text(), "0-1048576,2097152-3145728");
  EXPECT_TRUE(ranges_of("").empty());
  for (const char* wrong :
       {"5", "5-", "-5", "a-b", "5-4", "1-2,", ",1-2", "1-2 3-4", "1-99999999999999999999", "0x1-2"})
    EXPECT_FALSE(ByteRanges::parse(wrong)) << wrong;
}

TEST(ByteRanges, AreBoundedHoweverManyPiecesAPeerSends) {
  ByteRanges ranges;
  Status status;
  std::uint64_t at = 0;
  for (; status && at < 4 * ByteRanges::kMaxRanges; at += 2) status = ranges.add({at, at + 1});
  EXPECT_FALSE(status);
  EXPECT_EQ(ranges.size(), ByteRanges::kMaxRanges + 1);
}

}  // namespace
}  // namespace udtcat::files
