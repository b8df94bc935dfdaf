// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/name_error.hpp"

#include <type_traits>

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

/// Whether a function that returns `To` can hand on the error of one that returns `From`, as UDTCAT_TRY does.
template <typename To, typename From>
constexpr bool kHandsOn = std::is_convertible_v<tl::unexpected<typename From::error_type>, To>;

TEST(NameErrors, AreMadeOfAnyErrorInAFunctionOfOneName) { EXPECT_TRUE((kHandsOn<NameResult<int>, Result<int>>)); }

TEST(NameErrors, AreNotHandedOnAsErrorsOfTheTransfer) {
  EXPECT_FALSE((kHandsOn<Status, NameStatus>));
  EXPECT_FALSE((kHandsOn<Status, ScopedStatus>));
  EXPECT_FALSE((kHandsOn<NameStatus, ScopedStatus>)) << "one of the transfer may be among them";
  EXPECT_FALSE((kHandsOn<ScopedStatus, Status>)) << "which of the two is to be said";
}

TEST(ScopedErrors, KnowWhatTheyCost) {
  const auto of_one = [](bool is_of_name) -> ScopedStatus {
    if (is_of_name) return of_name(fail(Errc::local_write_failed, "write f", "no"));
    return of_transfer(fail(Errc::stream_refused, "write f", "too much"));
  };
  EXPECT_TRUE(of_one(true).error().is_of_name);
  EXPECT_EQ(of_one(true).error().message(), "write f: no");
  EXPECT_FALSE(of_one(false).error().is_of_name);
  EXPECT_EQ(of_one(false).error().error.code, Errc::stream_refused);
}

}  // namespace
}  // namespace udtcat::trees
