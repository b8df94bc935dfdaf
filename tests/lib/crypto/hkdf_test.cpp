// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/hkdf.hpp"

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::crypto {
namespace {

using test::Bytes;
using test::from_hex;
using test::to_hex;

Secret32 secret(std::string_view hex) {
  Secret32 value;
  const Bytes bytes = from_hex(hex);
  std::copy(bytes.begin(), bytes.end(), value.writable().begin());
  return value;
}

std::string expand(std::string_view pseudo_random_key, std::string_view label, std::string_view context,
                   std::size_t length) {
  Bytes out(length);
  EXPECT_TRUE(hkdf_expand(secret(pseudo_random_key), label, from_hex(context), out));
  return to_hex(out);
}

// RFC 5869 appendix A.3 (the only one with an empty salt, as ours always is).
TEST(HkdfExtract, GivesTheVectorOfRfc5869) {
  const auto extracted = hkdf_extract(from_hex("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"));
  ASSERT_TRUE(extracted);
  EXPECT_EQ(to_hex(extracted->bytes()), "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04");
}

// RFC 5869 appendix A.1 to A.3; the info is our context, the label is empty.
TEST(HkdfExpand, GivesTheVectorsOfRfc5869) {
  EXPECT_EQ(expand("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5", "", "f0f1f2f3f4f5f6f7f8f9", 42),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(expand("06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244", "",
                   "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e"
                   "1e2e3e4e5e6e7e8e9eaebecedeeef"
                   "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
                   82),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c"
            "2f09b8367793a9aca3db71"
            "cc30c58179ec3e87c14c01d5c1f3434f1d87");
  EXPECT_EQ(expand("19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04", "", "", 42),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(HkdfExpand, TakesLabelAndContextAsOneInfo) {
  constexpr const char* kKey = "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04";
  EXPECT_EQ(expand(kKey, "lane", "0001", 32), expand(kKey, "", "6c616e650001", 32));
  EXPECT_NE(expand(kKey, "lane", "0001", 32), expand(kKey, "lane", "0002", 32));
}

TEST(HkdfExpand, RefusesMoreThanHkdfCanGive) {
  Bytes out(255 * 32 + 1);
  const Status done = hkdf_expand(secret(""), "x", {}, out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::cipher_failed);
}

}  // namespace
}  // namespace udtcat::crypto
