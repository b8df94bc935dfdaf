// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/train_builder.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

class TrainBuilderTest : public testing::Test {
 protected:
  void add(std::size_t payload_bytes) {
    builder.begin_packet({.sequence = next_++}, payload_bytes);
    builder.payload().push_back(std::span<const std::byte>(memory_).first(payload_bytes / 2));
    builder.payload().push_back(
        std::span<const std::byte>(memory_).subspan(payload_bytes / 2, (payload_bytes + 1) / 2));
    builder.end_packet();
  }
  /// The datagrams as a socket would send them.
  std::vector<std::vector<std::byte>> datagrams() const {
    std::vector<std::vector<std::byte>> all;
    auto piece = builder.train().pieces.begin();
    for (const auto count : builder.train().piece_counts) {
      auto& datagram = all.emplace_back();
      for (int i = 0; i < count; ++i, ++piece) datagram.insert(datagram.end(), piece->begin(), piece->end());
    }
    return all;
  }
  void forget_memory() { memory_ = numbered_bytes(10); }
  TrainBuilder builder{8, 8000};

 private:
  std::vector<std::byte> memory_ = numbered_bytes(5000);
  std::uint32_t next_ = 0;
};

TEST_F(TrainBuilderTest, TakesPacketsOfOneSizeButTheLast) {
  add(1000);
  EXPECT_FALSE(builder.takes(1001));
  EXPECT_TRUE(builder.takes(1000));
  add(1000);
  add(500);
  EXPECT_FALSE(builder.takes(500)) << "nothing follows a shorter one";
  EXPECT_EQ(builder.train().segment_bytes, 1000 + kHeaderBytes);
  EXPECT_EQ(builder.train().total_bytes, 2500 + 3 * kHeaderBytes);
}

TEST_F(TrainBuilderTest, HasThePacketsThatWerePutIn) {
  add(1000);
  add(1000);
  const auto all = datagrams();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(decode_data_header(all[1]).sequence, 1U);
  const auto payload = std::span(all[1]).subspan(kHeaderBytes);
  EXPECT_EQ(std::vector(payload.begin(), payload.end()), numbered_bytes(1000));
}

TEST_F(TrainBuilderTest, TakesNoMorePacketsOrBytesThanTheSocket) {
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(builder.takes(100));
    add(100);
  }
  EXPECT_FALSE(builder.takes(100));
  builder.clear();
  EXPECT_TRUE(builder.takes(5000));
  add(5000);
  EXPECT_FALSE(builder.takes(5000)) << "8000 in all";
}

TEST_F(TrainBuilderTest, DropsPacketsThatTheSocketHasTaken) {
  for (const std::size_t bytes : {1000U, 1000U, 1000U, 10U}) add(bytes);
  builder.drop_front(2);
  ASSERT_EQ(datagrams().size(), 2U);
  EXPECT_EQ(decode_data_header(datagrams()[0]).sequence, 2U);
  EXPECT_EQ(builder.train().total_bytes, 1010 + 2 * kHeaderBytes);
  builder.drop_front(0);
  EXPECT_EQ(datagrams().size(), 2U);
}

TEST_F(TrainBuilderTest, OwnsItsPayloadsOnceTheyAreKept) {
  for (const std::size_t bytes : {1000U, 1000U, 1000U, 10U}) add(bytes);
  builder.drop_front(1);
  const auto before = datagrams();
  builder.keep();
  forget_memory();
  EXPECT_EQ(datagrams(), before);
  builder.drop_front(1);
  EXPECT_EQ(datagrams().front(), before[1]);
  builder.keep();
  EXPECT_EQ(datagrams().front(), before[1]) << "again";
}

TEST_F(TrainBuilderTest, TakesAControlPacketAlone) {
  add(1000);
  builder.set_control(numbered_bytes(20));
  ASSERT_EQ(datagrams().size(), 1U);
  EXPECT_EQ(datagrams()[0], numbered_bytes(20));
  EXPECT_EQ(builder.train().total_bytes, 20U);
  builder.clear();
  EXPECT_TRUE(builder.empty());
}

}  // namespace
}  // namespace udtcat::transport::native
