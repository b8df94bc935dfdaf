#include "lib/crypto/sha256.hpp"

#include <gtest/gtest.h>

#include "support/hex.hpp"

namespace udtcat::crypto {
namespace {

TEST(Sha256, IsTheStandards) {
  // spec: FIPS 180-4, the examples of NIST
  EXPECT_EQ(sha256_hex({}).value(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(test::bytes_of("abc")).value(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace udtcat::crypto
