// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peer_line.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

TEST(PeerLine, ReadsDatesOfUtcAndSaysThemAgain) {
  using namespace std::chrono_literals;
  const SystemTime day = std::chrono::sys_days(std::chrono::year(2026) / 12 / 1);
  EXPECT_EQ(parse_date("2026-12-01"), day);
  EXPECT_EQ(parse_date("2026-12-01T06:30"), day + 6h + 30min);
  EXPECT_EQ(parse_date("2026-12-01T06:30:07Z"), day + 6h + 30min + 7s);
  for (const char* text : {"2026-12-01", "2028-02-29", "2026-12-01T06:30:07Z", "2026-12-01T23:59:59Z"})
    EXPECT_EQ(date_text(parse_date(text).value()), text);
}

TEST(PeerLine, TakesNothingElseForADate) {
  for (const char* text : {"",
                           "2026",
                           "2026-12",
                           "2026-12-1",
                           "2026-12-32",
                           "2026-00-01",
                           "2027-02-29",
                           "1969-12-31",
                           "9999-01-01",
                           "2026/12/01",
                           "2026-12-01Z",
                           "2026-12-01T",
                           "2026-12-01T6:30",
                           "2026-12-01T24:00",
                           "2026-12-01T06:60",
                           "2026-12-01T06:30:60",
                           "2026-12-01T06:30:7",
                           "2026-12-01 06:30",
                           "2026-12-01T06:30+01:00",
                           "+026-12-01",
                           "2026-12-01T06:30:07ZZ"})
    EXPECT_FALSE(parse_date(text)) << text;
}

TEST(PeerLine, CountsFromItsFirstDateAndNoLongerAtItsLast) {
  const SystemTime begin = parse_date("2026-12-01").value(), end = parse_date("2027-01-01").value();
  const auto moment = std::chrono::seconds(1);
  const Peer peer{.name = "alice", .key = KeyPair::generate()->public_key(), .valid_after = begin, .valid_before = end};
  EXPECT_FALSE(is_valid_at(peer, begin - moment));
  EXPECT_TRUE(is_valid_at(peer, begin) && is_valid_at(peer, end - moment));
  EXPECT_FALSE(is_valid_at(peer, end));
  EXPECT_EQ(dates_text(peer, begin - moment), "is valid from 2026-12-01");
  EXPECT_EQ(dates_text(peer, end), "was valid until 2027-01-01");
  EXPECT_TRUE(is_valid_at({.name = "bob", .key = peer.key}, begin)) << "without dates";
}

}  // namespace
}  // namespace udtcat::tool
