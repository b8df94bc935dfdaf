#include <gtest/gtest.h>

#include "lib/crypto/aead.hpp"

namespace udtcat::crypto {
namespace {

TEST(FastestCipher, IsOneOfTwoAndStays) {
  const Cipher fastest = fastest_256_bit_cipher();
  EXPECT_EQ(Aead::key_bytes(fastest), 32U);
  EXPECT_EQ(fastest_256_bit_cipher(), fastest);
}

}  // namespace
}  // namespace udtcat::crypto
