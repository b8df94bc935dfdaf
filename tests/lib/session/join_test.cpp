// SPDX-License-Identifier: Apache-2.0
#include "lib/session/join.hpp"

#include <gtest/gtest.h>

#include "lib/session/key_schedule.hpp"
#include "support/spec_example.hpp"

namespace udtcat::session {
namespace {

using test::array_of;
using test::Bytes;
using test::to_hex;

class JoinTest : public ::testing::Test {
 protected:
  JoinTest() : id(array_of<kSessionIdBytes>(example.bytes("session"))) {}
  [[nodiscard]] crypto::Secret32 flow_key() const {
    crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
    const Bytes bytes = example.bytes("exporter");
    std::copy(bytes.begin(), bytes.end(), exporter.writable().begin());
    return std::move(*KeySchedule::from_exporter(exporter)->flow_key());
  }

  const test::SpecExample example{"handshake.md", "join"};
  const SessionId id;
  const JoinKey key{flow_key(), id};
};

TEST_F(JoinTest, HasTheBytesOfTheSpec) {
  EXPECT_EQ(to_hex(flow_key().bytes()), to_hex(example.bytes("flow key")));
  const auto join = key.join({1, 1});
  ASSERT_TRUE(join);
  EXPECT_EQ(to_hex(join->proof), to_hex(example.bytes("join proof")));
  EXPECT_EQ(to_hex(encode(*join)), to_hex(example.bytes("join")));
  EXPECT_EQ(decode_join(example.bytes("join")), *join);
  const auto joined = key.joined({1, 1});
  ASSERT_TRUE(joined);
  EXPECT_EQ(to_hex(joined->proof), to_hex(example.bytes("joined proof")));
  EXPECT_EQ(to_hex(encode(*joined)), to_hex(example.bytes("joined")));
  EXPECT_EQ(decode_joined(example.bytes("joined")), *joined);
}

/// Proves: threat-model.stranger-parsed
TEST_F(JoinTest, IsRefusedWithAnyByteChanged) {
  const Join join = *key.join({3, 7});
  EXPECT_TRUE(key.check(join));
  EXPECT_TRUE(key.is_meant_by(join));
  for (std::size_t at = 0; at < kProofBytes; ++at) {
    Join changed = join;
    changed.proof[at] ^= std::byte{1};
    EXPECT_EQ(key.check(changed).error().code, Errc::authentication_failed);
  }
  Join of_another_flow = join;
  of_another_flow.name.flow = 4;
  EXPECT_FALSE(key.check(of_another_flow));
  Join of_another_attempt = join;
  of_another_attempt.name.attempt = 8;
  EXPECT_FALSE(key.check(of_another_attempt));
  Join of_another_session = join;
  of_another_session.session_id[0] ^= std::byte{1};
  EXPECT_FALSE(key.is_meant_by(of_another_session));
  EXPECT_FALSE(key.check(of_another_session));
}

TEST_F(JoinTest, IsNotItsOwnAnswer) {
  const Joined joined = *key.joined({3, 7});
  EXPECT_TRUE(key.check(joined, {3, 7}));
  EXPECT_FALSE(key.check(joined, {4, 7}));
  EXPECT_FALSE(key.check(joined, {3, 6}));
  EXPECT_FALSE(key.check(Joined{key.join({3, 7})->proof}, {3, 7}));
  EXPECT_FALSE(JoinKey({}, id).check(joined, {3, 7})) << "another key";
}

TEST_F(JoinTest, RefusesValuesOutOfRange) {
  Join join = *key.join({1, 1});
  for (const std::uint8_t flow : std::array<std::uint8_t, 2>{16, 255}) {
    join.name.flow = flow;
    EXPECT_FALSE(decode_join(encode(join))) << int{flow};
  }
  for (const std::uint8_t flow : std::array<std::uint8_t, 2>{0, 15}) {
    join.name.flow = flow;
    EXPECT_TRUE(decode_join(encode(join))) << int{flow};
  }
  join.name.attempt = 0;
  EXPECT_FALSE(decode_join(encode(join))) << "the handshake's";
}

TEST_F(JoinTest, DecodersAreTotal) {
  for (const Bytes& whole : {encode(*key.join({1, 1})), encode(*key.joined({1, 1}))}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::span<const std::byte> cut(whole.data(), length);
      EXPECT_FALSE(decode_join(cut));
      EXPECT_FALSE(decode_joined(cut));
    }
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int value = 0; value < 256; ++value) {
        Bytes changed = whole;
        changed[at] = static_cast<std::byte>(value);
        if (const auto join = decode_join(changed)) {
          EXPECT_EQ(decode_join(encode(*join)), *join);
        }
        if (const auto joined = decode_joined(changed)) {
          EXPECT_EQ(decode_joined(encode(*joined)), *joined);
        }
      }
  }
  EXPECT_FALSE(decode_joined(encode(*key.join({1, 1}))));
  EXPECT_FALSE(decode_join(encode(*key.joined({1, 1}))));
}

}  // namespace
}  // namespace udtcat::session
