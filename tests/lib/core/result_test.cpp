// SPDX-License-Identifier: Apache-2.0
#include <udtcat/result.hpp>

#include <set>

#include <gtest/gtest.h>

namespace udtcat {
namespace {

TEST(Error, SaysWhatAndTheForeignCause) {
  EXPECT_EQ((Error{Errc::cannot_bind, "bind udp 0.0.0.0:9000", "address already in use"}.message()),
            "bind udp 0.0.0.0:9000: address already in use");
}

TEST(Error, SaysTheTextOfItsCodeWhereNoCauseIsKnown) {
  EXPECT_EQ((Error{Errc::tampered, "open a record", {}}.message()), "open a record: a record failed authentication");
  EXPECT_EQ((Error{Errc::interrupted, {}, {}}.message()), "interrupted");
}

TEST(Errc, HasADifferentTextForEachCode) {
  std::set<std::string> texts;
  const int last = static_cast<int>(Errc::cipher_failed);
  for (int code = 1; code <= last; ++code) texts.insert(udtcat_category().message(code));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(last));
  EXPECT_FALSE(texts.contains("unknown error"));
  EXPECT_EQ(udtcat_category().message(last + 1), "unknown error");
}

TEST(Errc, IsAnErrorCode) {
  const std::error_code code = Errc::peer_lost;
  EXPECT_EQ(code.category(), udtcat_category());
  EXPECT_EQ(code, Errc::peer_lost);
  EXPECT_STREQ(code.category().name(), "udtcat");
}

}  // namespace
}  // namespace udtcat
