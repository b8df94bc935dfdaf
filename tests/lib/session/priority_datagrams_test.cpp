// SPDX-License-Identifier: Apache-2.0
#include "lib/session/priority_datagrams.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/spec_example.hpp"

namespace udtcat::session {
namespace {

using Bytes = std::vector<std::byte>;

PriorityDatagrams priority_end(Role role, Protection protection, std::byte exporter_fill = std::byte{7}) {
  crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
  for (std::byte& byte : exporter.writable()) byte = exporter_fill;
  NegotiatedParameters agreed;
  agreed.protection = protection;
  return std::move(*PriorityDatagrams::create(agreed, *KeySchedule::from_exporter(exporter), role));
}

class PriorityDatagramsTest : public ::testing::TestWithParam<Protection> {
 protected:
  Bytes sealed(std::string_view text) { return *connector.seal(test::bytes_of(text)); }
  std::string opened(const Bytes& record) {
    const auto payload = listener.open(record);
    return payload ? test::text_of(*payload) : "nothing";
  }

  PriorityDatagrams connector = priority_end(Role::connector, GetParam());
  PriorityDatagrams listener = priority_end(Role::listener, GetParam());
};
INSTANTIATE_TEST_SUITE_P(All, PriorityDatagramsTest, testing::Values(Protection::safe, Protection::private_),
                         [](const auto& each) { return each.param == Protection::safe ? "Safe" : "Private"; });

TEST_P(PriorityDatagramsTest, CarriesDataBothWays) {
  EXPECT_EQ(opened(sealed("a question")), "a question");
  const auto answer = *listener.seal(test::bytes_of("an answer"));
  const auto payload = connector.open(answer);
  ASSERT_TRUE(payload);
  EXPECT_EQ(test::text_of(*payload), "an answer");
}

/// Proves: record.priority-limit
TEST_P(PriorityDatagramsTest, CarriesTheLargest) {
  const std::string most(1024, 'x');
  Bytes record = sealed(most);
  EXPECT_EQ(record.size(), 16U + 1024 + 16);
  EXPECT_EQ(opened(record), most);
  record.push_back(std::byte{0});
  EXPECT_EQ(opened(record), "nothing") << "nor is a larger one looked at";
}

TEST_P(PriorityDatagramsTest, GoesOnAfterALoss) {
  std::ignore = sealed("lost");
  EXPECT_EQ(opened(sealed("came")), "came");
}

TEST_P(PriorityDatagramsTest, DropsWhatComesAgainOrLate) {
  const Bytes first = sealed("first");
  const Bytes second = sealed("second");
  EXPECT_EQ(opened(second), "second");
  EXPECT_EQ(opened(second), "nothing");
  EXPECT_EQ(opened(first), "nothing");
}

TEST_P(PriorityDatagramsTest, GoesThroughEpochsHoweverManyAreLost) {
  for (BlockNumber number = 0; number < 2 * kBlocksPerEpoch + 1; ++number) std::ignore = sealed("x");
  EXPECT_EQ(opened(sealed("two epochs later")), "two epochs later");
}

TEST_P(PriorityDatagramsTest, DropsANumberThatWouldCostManyEpochs) {
  for (BlockNumber number = 0; number < 4 * kBlocksPerEpoch + 1; ++number) std::ignore = sealed("x");
  EXPECT_EQ(opened(sealed("too far")), "nothing");
}

TEST_P(PriorityDatagramsTest, DropsTruncatedRecords) {
  const Bytes whole = sealed("whole");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(opened({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "nothing") << size;
  EXPECT_EQ(opened(whole), "whole") << "what was no record of the peer's has moved nothing";
}

TEST_P(PriorityDatagramsTest, DropsRecordsWithAByteChanged) {
  for (std::size_t at = 0; at < sealed("whole").size(); ++at) {
    Bytes record = sealed("whole");
    record[at] ^= std::byte{1};
    EXPECT_EQ(opened(record), "nothing") << at;
  }
  EXPECT_EQ(opened(sealed("after all that")), "after all that");
}

TEST_P(PriorityDatagramsTest, DropsRecordsOfAnotherSessionAndItsOwn) {
  PriorityDatagrams other = priority_end(Role::connector, GetParam(), std::byte{8});
  EXPECT_EQ(opened(*other.seal(test::bytes_of("x"))), "nothing");
  EXPECT_EQ(opened(*listener.seal(test::bytes_of("x"))), "nothing");
}

TEST(PriorityDatagramExample, IsWhatTheSpecSays) {
  const test::SpecExample example("record.md", "priority-datagram");
  crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
  std::ranges::copy(example.bytes("exporter"), exporter.writable().begin());
  const KeySchedule keys = std::move(*KeySchedule::from_exporter(exporter));
  EXPECT_EQ(test::to_hex(keys.priority_header_key(Direction::from_connector)->bytes()),
            test::to_hex(example.bytes("header key")));
  EXPECT_EQ(test::to_hex(keys.priority_secret(Direction::from_connector)->keys()->key.bytes()),
            test::to_hex(example.bytes("key")));
  NegotiatedParameters agreed;
  agreed.protection = Protection::private_;
  PriorityDatagrams connector = std::move(*PriorityDatagrams::create(agreed, keys, Role::connector));
  EXPECT_EQ(test::to_hex(*connector.seal(example.bytes("payload"))), test::to_hex(example.bytes("record")));
}

}  // namespace
}  // namespace udtcat::session
