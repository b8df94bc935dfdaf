// SPDX-License-Identifier: Apache-2.0
#include "files/sha256.hpp"

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::files {
namespace {

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  const auto bytes = test::random_bytes(1'000);
  Sha256 hash;
  hash.add(std::span(bytes).first(1));
  hash.add({});
  hash.add(std::span(bytes).subspan(1));
  EXPECT_EQ(hash.digest(), digest_of({bytes}));
  EXPECT_EQ(to_hex(digest_of({test::bytes_of("abc")})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-4's example
}

TEST(Sha256, InShortIsItsFirstHalf) {
  EXPECT_EQ(to_hex(short_digest_of({test::bytes_of("a"), test::bytes_of("bc")})), "ba7816bf8f01cfea414140de5dae2223");
}

}  // namespace
}  // namespace udtcat::files
