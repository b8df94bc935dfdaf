// SPDX-License-Identifier: Apache-2.0
/// The worked example of docs/spec/record.md §6, step by step.
#include <gtest/gtest.h>

#include "lib/core/byte_order.hpp"
#include "lib/crypto/aead.hpp"
#include "lib/crypto/header_cipher.hpp"
#include "lib/session/key_schedule.hpp"
#include "lib/session/record_format.hpp"
#include "support/spec_example.hpp"

namespace udtcat::session {
namespace {

using test::Bytes;
using test::to_hex;

constexpr BlockNumber kNumber = 5;
constexpr std::uint16_t kLane = 1;

class RecordExample : public testing::Test {
 protected:
  RecordExample() {
    crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
    const Bytes bytes = example_.bytes("exporter");
    std::copy(bytes.begin(), bytes.end(), exporter.writable().begin());
    schedule_ = std::move(*KeySchedule::from_exporter(exporter));
    keys_ = std::move(*schedule_->lane_secret(Direction::from_connector, kLane)->keys());
  }

  std::string hex(const std::string& name) const { return to_hex(example_.bytes(name)); }

  std::array<std::byte, crypto::kNonceBytes> nonce() const {
    auto nonce = test::array_of<crypto::kNonceBytes>(keys_->iv.bytes());
    for (int i = 0; i < 8; ++i) nonce[11U - static_cast<unsigned>(i)] ^= static_cast<std::byte>(kNumber >> (8 * i));
    return nonce;
  }

  std::array<std::byte, kRecordHeaderBytes> header(Protection protection) const {
    std::array<std::byte, kRecordHeaderBytes> out;
    encode({protection, kLane, static_cast<std::uint32_t>(example_.bytes("payload").size()), kNumber}, out);
    return out;
  }

  // header ‖ payload ‖ tag, as the channel carries them.
  std::string record(std::array<std::byte, kRecordHeaderBytes> head, const Bytes& payload,
                     std::span<const std::byte> tag) const {
    auto cipher = crypto::HeaderCipher::create(*schedule_->header_key(Direction::from_connector));
    EXPECT_TRUE(cipher && cipher->encipher(head));
    return to_hex(head) + to_hex(payload) + to_hex(tag);
  }

  crypto::Aead aead(crypto::AeadDirection direction) const {
    return std::move(*crypto::Aead::create(Cipher::aes_256_gcm, direction, keys_->key.bytes()));
  }

  test::SpecExample example_{"record.md", "record"};
  std::optional<KeySchedule> schedule_;
  std::optional<LaneSecret::Keys> keys_;
};

TEST_F(RecordExample, DerivesItsKeys) {
  EXPECT_EQ(to_hex(schedule_->header_key(Direction::from_connector)->bytes()), hex("header key"));
  EXPECT_EQ(to_hex(keys_->key.bytes()), hex("key"));
  EXPECT_EQ(to_hex(keys_->iv.bytes()), hex("iv"));
  EXPECT_EQ(to_hex(nonce()), hex("nonce"));
}

TEST_F(RecordExample, NamesTheSecretsBetween) {
  crypto::Secret32 lane;
  crypto::Secret32 next;
  const Bytes lane_bytes = example_.bytes("lane secret");
  const Bytes next_bytes = example_.bytes("next secret");
  std::copy(lane_bytes.begin(), lane_bytes.end(), lane.writable().begin());
  std::copy(next_bytes.begin(), next_bytes.end(), next.writable().begin());
  LaneSecret chain(std::move(lane));
  EXPECT_EQ(to_hex(chain.keys()->key.bytes()), hex("key"));
  ASSERT_TRUE(chain.ratchet());
  EXPECT_EQ(to_hex(chain.keys()->key.bytes()), to_hex(LaneSecret(std::move(next)).keys()->key.bytes()));
}

TEST_F(RecordExample, IsSealedAtPrivate) {
  const auto head = header(Protection::private_);
  EXPECT_EQ(to_hex(head), hex("private header"));
  Bytes payload = example_.bytes("payload");
  std::array<std::byte, crypto::kTagBytes> tag;
  ASSERT_TRUE(aead(crypto::AeadDirection::seal).seal(nonce(), head, payload, tag));
  EXPECT_EQ(record(head, payload, tag), hex("private record"));
}

TEST_F(RecordExample, IsAuthenticatedAtSafe) {
  const auto head = header(Protection::safe);
  EXPECT_EQ(to_hex(head), hex("safe header"));
  const Bytes payload = example_.bytes("payload");
  Bytes everything(head.begin(), head.end());
  everything.insert(everything.end(), payload.begin(), payload.end());
  std::array<std::byte, crypto::kTagBytes> tag;
  ASSERT_TRUE(aead(crypto::AeadDirection::seal).seal(nonce(), everything, {}, tag));
  EXPECT_EQ(record(head, payload, tag), hex("safe record"));
}

}  // namespace
}  // namespace udtcat::session
