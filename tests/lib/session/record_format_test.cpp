// SPDX-License-Identifier: Apache-2.0
#include "lib/session/record_format.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::session {
namespace {

using Encoded = std::array<std::byte, kRecordHeaderBytes>;

constexpr RecordHeader kHeader{Protection::private_, 1, 15, 5};

Encoded encoded(const RecordHeader& header) {
  Encoded out;
  encode(header, out);
  return out;
}

bool refused(const RecordHeader& header) {
  const auto decoded = decode_record_header(encoded(header));
  return !decoded && decoded.error().code == Errc::protocol_violated;
}

TEST(RecordHeader, SurvivesItsEncoding) {
  for (const RecordHeader header :
       {kHeader, RecordHeader{Protection::clear, 0, 1, 0},
        RecordHeader{Protection::safe, kMaxLanes - 1, kMaxBlockBytes, kMaxBlockNumber - 1}}) {
    const auto decoded = decode_record_header(encoded(header));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->protection, header.protection);
    EXPECT_EQ(decoded->lane, header.lane);
    EXPECT_EQ(decoded->payload_bytes, header.payload_bytes);
    EXPECT_EQ(decoded->number, header.number);
  }
}

TEST(RecordHeader, RefusesWhatIsOutOfRange) {
  EXPECT_TRUE(refused({static_cast<Protection>(4), 0, 1, 0}));
  EXPECT_TRUE(refused({Protection::clear, kMaxLanes, 1, 0}));
  EXPECT_TRUE(refused({Protection::clear, 0, 0, 0}));
  EXPECT_TRUE(refused({Protection::clear, 0, kMaxBlockBytes + 1, 0}));
  EXPECT_TRUE(refused({Protection::clear, 0, 1, kMaxBlockNumber}));
  EXPECT_TRUE(refused({Protection::clear, 0, 1, std::numeric_limits<BlockNumber>::max()}));
}

TEST(RecordHeader, RefusesAnotherVersion) {
  Encoded bytes = encoded(kHeader);
  bytes[0] = std::byte{2};
  EXPECT_FALSE(decode_record_header(bytes));
}

TEST(RecordHeader, ChangesWithEverySingleBitFlip) {
  const Encoded intact = encoded(kHeader);
  for (std::size_t bit = 0; bit < 8 * kRecordHeaderBytes; ++bit) {
    Encoded flipped = intact;
    flipped[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    const auto decoded = decode_record_header(flipped);
    // A value or an error, and every value is another one.
    if (decoded) {
      EXPECT_EQ(test::to_hex(encoded(*decoded)), test::to_hex(flipped));
    }
  }
}

TEST(Block, LaysHeaderPayloadAndTagSideBySide) {
  core::BufferPool pool(buffer_bytes_for(4096), 1);
  const Block block{*pool.acquire(), 0, 100};
  EXPECT_EQ(block.header().data() + kRecordHeaderBytes, block.payload().data());
  EXPECT_EQ(block.payload().data() + 100, block.tag().data());
  EXPECT_EQ(block.record(Protection::private_).size(), kRecordHeaderBytes + 100 + kRecordTagBytes);
  EXPECT_EQ(block.record(Protection::clear).size(), kRecordHeaderBytes + 100);
  EXPECT_EQ(block.payload_room().size(), 4096U);
}

}  // namespace
}  // namespace udtcat::session
