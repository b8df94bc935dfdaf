// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/block_header.hpp"

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat::gridftp {
namespace {

TEST(BlockHeader, IsThatOfTheWorkedExample) {
  const auto data = encode({.descriptor = 0, .count = 262'144, .offset = 1'048'576});
  const auto end = encode({.descriptor = BlockHeader::kEof | BlockHeader::kEod, .count = 0, .offset = 4});
  const test::SpecExample example("gridftp.md", "block headers");
  EXPECT_EQ(std::vector(data.begin(), data.end()), example.bytes("data"));
  EXPECT_EQ(std::vector(end.begin(), end.end()), example.bytes("end"));
}

TEST(BlockHeader, SurvivesItsEncoding) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    for (int descriptor = 0; descriptor < 256; ++descriptor) {
      const BlockHeader header{static_cast<std::uint8_t>(descriptor), number, ~number};
      EXPECT_EQ(decode_block_header(encode(header)), header);
    }
}

TEST(BlockHeader, HasNoPayloadAtTheEndOfTheFile) {
  EXPECT_EQ((BlockHeader{BlockHeader::kEof, 100, 4}).payload_bytes(), 0U);
  EXPECT_EQ((BlockHeader{BlockHeader::kEod, 100, 4}).payload_bytes(), 100U);
  EXPECT_TRUE((BlockHeader{0xB0, 100, 4}).payload_bytes() == 100U) << "bits that mean nothing change nothing";
}

}  // namespace
}  // namespace udtcat::gridftp
