// SPDX-License-Identifier: Apache-2.0
#include "lib/session/key_schedule.hpp"

#include <array>
#include <set>

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::session {
namespace {

KeySchedule schedule(std::byte fill = std::byte{1}) {
  crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
  for (std::byte& byte : exporter.writable()) byte = fill;
  return std::move(*KeySchedule::from_exporter(exporter));
}

std::string hex_key_of(const LaneSecret& secret) { return test::to_hex(secret.keys()->key.bytes()); }
std::string iv_of(const LaneSecret& secret) { return test::to_hex(secret.keys()->iv.bytes()); }

/// Proves: record.nonce-once
TEST(KeySchedule, GivesEachDirectionLaneAndEpochItsOwnKey) {
  const KeySchedule keys = schedule();
  std::set<std::string> seen;
  for (const auto direction : {Direction::from_connector, Direction::from_listener})
    for (const std::uint16_t lane : std::array<std::uint16_t, 3>{0, 1, 63}) {
      LaneSecret secret = std::move(*keys.lane_secret(direction, lane));
      for (int epoch = 0; epoch < 3; ++epoch) {
        EXPECT_TRUE(seen.insert(hex_key_of(secret)).second);
        EXPECT_TRUE(seen.insert(iv_of(secret)).second);
        ASSERT_TRUE(secret.ratchet());
      }
    }
  for (const auto direction : {Direction::from_connector, Direction::from_listener})
    EXPECT_TRUE(seen.insert(test::to_hex(keys.header_key(direction)->bytes())).second);
  for (const auto direction : {Direction::from_connector, Direction::from_listener}) {
    EXPECT_TRUE(seen.insert(test::to_hex(keys.priority_header_key(direction)->bytes())).second);
    EXPECT_TRUE(seen.insert(hex_key_of(*keys.priority_secret(direction))).second);
  }
  EXPECT_TRUE(seen.insert(test::to_hex(keys.flow_key()->bytes())).second);
}

TEST(KeySchedule, IsTheSameAtBothEnds) {
  EXPECT_EQ(hex_key_of(*schedule().lane_secret(Direction::from_connector, 3)),
            hex_key_of(*schedule().lane_secret(Direction::from_connector, 3)));
}

TEST(KeySchedule, IsAnotherForEachSession) {
  const KeySchedule one = schedule(std::byte{1});
  const KeySchedule two = schedule(std::byte{2});
  EXPECT_NE(hex_key_of(*one.lane_secret(Direction::from_connector, 0)),
            hex_key_of(*two.lane_secret(Direction::from_connector, 0)));
  EXPECT_NE(test::to_hex(one.header_key(Direction::from_connector)->bytes()),
            test::to_hex(two.header_key(Direction::from_connector)->bytes()));
}

}  // namespace
}  // namespace udtcat::session
