// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/checksum.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "support/bytes.hpp"

namespace udtcat::gridftp {
namespace {

std::string sum_of(std::string_view name, std::span<const std::byte> bytes, std::size_t piece_bytes) {
  auto sum = Checksum::named(name);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), piece_bytes)))
    sum->add(bytes.first(std::min(bytes.size(), piece_bytes)));
  return sum->text();
}

TEST(Checksum, IsAsOtherProgramsWriteIt) {
  const auto bytes = test::bytes_of("Wikipedia");
  EXPECT_EQ(sum_of("ADLER32", bytes, 9), "11e60398");
  EXPECT_EQ(sum_of("md5", bytes, 9), "9c677286866aad38f8e9b660f5411814");
  EXPECT_EQ(sum_of("SHA1", test::bytes_of("abc"), 3), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sum_of("Sha256", test::bytes_of("abc"), 3),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Checksum::named("ADLER32")->text(), "00000001") << "of nothing";
}

TEST(Checksum, IsTheSameInWhateverPiecesTheBytesCome) {
  const std::vector<std::byte> high(20'000, std::byte{0xff});  // where a sum of 32 bits would overflow
  for (const char* name : {"ADLER32", "MD5", "SHA512"})
    for (const std::size_t piece : {std::size_t{1}, std::size_t{5'553}})
      EXPECT_EQ(sum_of(name, high, piece), sum_of(name, high, high.size())) << name;
}

TEST(Checksum, IsOfNoOtherName) {
  for (const char* name : {"", "CRC32", "MD", "MD55", "SHA3-256", "RIPEMD160"}) EXPECT_FALSE(Checksum::named(name));
}

}  // namespace
}  // namespace udtcat::gridftp
