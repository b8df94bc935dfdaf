// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/candidates.hpp"

#include <gmock/gmock.h>

#include "support/bytes.hpp"

namespace udtcat::meeting {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Candidate host(const char* address, std::uint16_t port = 9000) {
  return {Candidate::Kind::host, resolve({address, port}, AddressFamily::any)->front()};
}

test::Bytes encoded(const std::vector<Candidate>& candidates) {
  test::Bytes bytes;
  core::ByteWriter writer(bytes);
  encode(writer, candidates);
  return bytes;
}

TEST(Candidates, ComeBackAsTheyWere) {
  auto seen = host("2001:db8::1", 1);
  seen.kind = Candidate::Kind::server_reflexive;
  const std::vector<Candidate> candidates{host("192.0.2.1"), seen};
  const auto bytes = encoded(candidates);
  EXPECT_EQ(test::to_hex(bytes), "0201042328c00002010206000120010db8000000000000000000000001");
  core::ByteReader reader(bytes);
  EXPECT_EQ(decode_candidates(reader), candidates);
  EXPECT_TRUE(reader.is_whole());
}

TEST(Candidates, AreNoneWhereTheyAreCut) {
  const auto whole = encoded({host("192.0.2.1"), host("2001:db8::1")});
  for (std::size_t bytes = 1; bytes < whole.size(); ++bytes) {
    core::ByteReader reader(std::span<const std::byte>(whole).first(bytes));
    EXPECT_FALSE(decode_candidates(reader)) << bytes;
  }
}

/// Proves: meet.candidate-count
TEST(Candidates, AreNoneOfAnotherKindOrFamilyAndNotMoreThanEight) {
  for (const char* bytes : {"0100042328c0000201", "0103042328c0000201", "0101052328c0000201"}) {
    const auto read = test::from_hex(bytes);
    core::ByteReader reader(read);
    EXPECT_FALSE(decode_candidates(reader)) << bytes;
  }
  for (const int count : {8, 9}) {
    std::string bytes = '0' + std::to_string(count);
    for (int i = 0; i < count; ++i) bytes += "01042328c0000201";
    const auto read = test::from_hex(bytes);
    core::ByteReader reader(read);
    EXPECT_EQ(decode_candidates(reader).has_value(), count == 8);
  }
}

TEST(Candidates, AreOfUseWhereAnotherHostCanSendThere) {
  const std::vector<Candidate> good{host("10.0.0.1"), host("2001:db8::1")};
  std::vector<Candidate> all = good;
  for (const char* each : {"0.0.0.0", "224.0.0.1", "255.255.255.255", "127.0.0.1", "::", "::1", "ff02::1", "fe80::1"})
    all.push_back(host(each));
  all.push_back(host("192.0.2.1", 0));
  EXPECT_EQ(usable(all, good), good);
}

TEST(Candidates, OfTheLoopbackAddressAreOfUseOnOneHost) {
  EXPECT_THAT(usable({host("127.0.0.1")}, {host("::1")}), ElementsAre(host("127.0.0.1")));
  EXPECT_THAT(usable({host("127.0.0.1")}, {}), IsEmpty());
}

}  // namespace
}  // namespace udtcat::meeting
