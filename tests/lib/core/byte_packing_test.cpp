// SPDX-License-Identifier: Apache-2.0
#include "lib/core/byte_packing.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::core {
namespace {

std::vector<std::byte> some_bytes() {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.number(std::uint16_t{0x0102});
  writer.sized_text<std::uint8_t>("name");
  writer.bytes(std::vector<std::byte>(3, std::byte{7}));
  return bytes;
}

TEST(BytePacking, PutsNumbersInNetworkOrderAndTheLengthOfATextBeforeIt) {
  EXPECT_EQ(some_bytes(), udtcat::test::from_hex("0102 04 6e616d65 070707"));
}

TEST(BytePacking, ReadsWhatWasWritten) {
  const auto bytes = some_bytes();
  ByteReader reader(bytes);
  EXPECT_EQ(reader.number<std::uint16_t>(), 0x0102);
  EXPECT_EQ(reader.sized_text<std::uint8_t>(), "name");
  EXPECT_FALSE(reader.is_whole());
  EXPECT_EQ(reader.rest_bytes(), 3U);
  EXPECT_EQ(reader.array<3>(), (std::array{std::byte{7}, std::byte{7}, std::byte{7}}));
  EXPECT_TRUE(reader.is_whole());
}

TEST(BytePacking, KnowsThatItIsTruncated) {
  const auto bytes = some_bytes();
  for (std::size_t count = 0; count < bytes.size(); ++count) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    ByteReader reader(cut);
    std::ignore = reader.number<std::uint16_t>();
    std::ignore = reader.sized_text<std::uint8_t>();
    EXPECT_EQ(reader.bytes(3).size(), 0U) << "of " << count;
    EXPECT_TRUE(reader.is_cut());
    EXPECT_FALSE(reader.is_whole());
    EXPECT_EQ(reader.number<std::uint8_t>(), 0U) << "nothing is read behind a cut";
  }
}

}  // namespace
}  // namespace udtcat::core
