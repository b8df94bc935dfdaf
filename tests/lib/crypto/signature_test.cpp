// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/signature.hpp"

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::crypto {
namespace {

TEST(Signature, IsThatOfRfc8032) {
  const auto secret = test::from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const auto pair = KeyPair::of(std::span<const std::byte>(secret).first<32>());
  ASSERT_TRUE(pair);
  EXPECT_EQ(test::to_hex(pair->public_key().bytes()),
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const auto message = test::from_hex("72");
  const auto signature = sign(*pair, message);
  ASSERT_TRUE(signature);
  EXPECT_EQ(test::to_hex(*signature),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  EXPECT_TRUE(is_signed_by(pair->public_key(), message, *signature));
}

TEST(Signature, IsWrongWithAnyByteChangedAndForOthers) {
  const auto pair = KeyPair::generate();
  const auto message = test::bytes_of("a message");
  const auto signature = *sign(*pair, message);
  for (std::size_t at = 0; at < kSignatureBytes; ++at) {
    auto changed = signature;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(is_signed_by(pair->public_key(), message, changed)) << at;
  }
  EXPECT_FALSE(is_signed_by(pair->public_key(), test::bytes_of("another"), signature));
  EXPECT_FALSE(is_signed_by(KeyPair::generate()->public_key(), message, signature));
}

}  // namespace
}  // namespace udtcat::crypto
