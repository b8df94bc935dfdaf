// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/checksum_request.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

TEST(ChecksumRequest, NamesBytesOfAFile) {
  const auto part = parse_checksum_request("MD5 10 20 /a b");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->algorithm, "MD5");
  EXPECT_EQ(part->offset, 10U);
  EXPECT_EQ(part->bytes, 20U);
  EXPECT_EQ(part->path, "/a b");
  EXPECT_FALSE(parse_checksum_request("MD5 0 -1 /a")->bytes) << "up to the end";
}

TEST(ChecksumRequest, IsRefusedAtEveryTruncation) {
  const std::string whole = "MD5 10 20 /";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(parse_checksum_request(whole.substr(0, bytes))) << bytes;
  for (const char* wrong :
       {"MD5 -1 5 /a", "MD5 0 -2 /a", "MD5 x 5 /a", "MD5 0 5x /a", "MD5  0 5", "MD5 99999999999999999999 1 /a"})
    EXPECT_FALSE(parse_checksum_request(wrong)) << wrong;
}

}  // namespace
}  // namespace udtcat::gridftp
