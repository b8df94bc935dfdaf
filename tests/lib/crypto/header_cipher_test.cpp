// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/header_cipher.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::crypto {
namespace {

using Block = std::array<std::byte, kHeaderBlockBytes>;

HeaderCipher fips_197_cipher() {
  Secret32 key;
  for (std::size_t i = 0; i < 32; ++i) key.writable()[i] = static_cast<std::byte>(i);
  return std::move(*HeaderCipher::create(key));
}

// FIPS 197 appendix C.3.
TEST(HeaderCipher, GivesTheVectorOfFips197) {
  HeaderCipher cipher = fips_197_cipher();
  Block block = test::array_of<16>(test::from_hex("00112233445566778899aabbccddeeff"));
  ASSERT_TRUE(cipher.encipher(block));
  EXPECT_EQ(test::to_hex(block), "8ea2b7ca516745bfeafc49904b496089");
  ASSERT_TRUE(cipher.decipher(block));
  EXPECT_EQ(test::to_hex(block), "00112233445566778899aabbccddeeff");
}

TEST(HeaderCipher, TreatsEveryBlockAlike) {
  HeaderCipher cipher = fips_197_cipher();
  for (int i = 0; i < 1000; ++i) {
    Block block{};
    ASSERT_TRUE(cipher.encipher(block));
    EXPECT_EQ(test::to_hex(block), "f29000b62a499fd0a9f39a6add2e7780");
  }
}

TEST(HeaderCipher, SpreadsEveryChangedBitOverTheBlock) {
  HeaderCipher cipher = fips_197_cipher();
  Block sealed{};
  ASSERT_TRUE(cipher.encipher(sealed));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    Block forged = sealed;
    forged[i] ^= std::byte{1};
    ASSERT_TRUE(cipher.decipher(forged));
    EXPECT_GT(std::count_if(forged.begin(), forged.end(), [](std::byte b) { return b != std::byte{0}; }), 8);
  }
}

}  // namespace
}  // namespace udtcat::crypto
