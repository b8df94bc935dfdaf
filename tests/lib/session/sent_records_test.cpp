// SPDX-License-Identifier: Apache-2.0
#include "lib/session/sent_records.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace udtcat::session {
namespace {

class SentRecordsTest : public ::testing::Test {
 protected:
  std::uint64_t add(std::uint64_t end_offset) {
    return records.add(
        {core::SharedBytes(), end_offset, [this, end_offset](const Status&) { called.push_back(end_offset); }});
  }
  void take(std::uint64_t place) {
    if (const auto handler = records.take_handler(place)) handler({});
  }

  SentRecords records;
  std::vector<std::uint64_t> called;
};

TEST_F(SentRecordsTest, CallEachHandlerOnce) {
  const auto first = add(10);
  const auto second = add(20);
  take(second);
  take(first);
  take(first);
  EXPECT_EQ(called, (std::vector<std::uint64_t>{20, 10}));
}

TEST_F(SentRecordsTest, ForgetThoseThatAreAcknowledgedAndTaken) {
  const auto first = add(10);
  const auto second = add(20);
  records.forget_before(20);
  EXPECT_FALSE(records.empty()) << "their handlers were not called yet";
  take(first);
  take(second);
  records.forget_before(19);
  EXPECT_FALSE(records.empty());
  const auto third = add(30);
  records.forget_before(20);
  take(third);
  EXPECT_EQ(called, (std::vector<std::uint64_t>{10, 20, 30})) << "places stay what they are";
  records.forget_before(30);
  EXPECT_TRUE(records.empty());
}

TEST_F(SentRecordsTest, AreHereNoMoreOnceTheyAreTakenAway) {
  const auto first = add(10);
  take(first);
  const auto second = add(20);
  const auto all = records.take_all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].taken);
  EXPECT_TRUE(all[1].taken);
  EXPECT_TRUE(records.empty());
  take(second);
  EXPECT_EQ(called, (std::vector<std::uint64_t>{10}));
  take(add(30));
  EXPECT_EQ(called.back(), 30U);
}

}  // namespace
}  // namespace udtcat::session
