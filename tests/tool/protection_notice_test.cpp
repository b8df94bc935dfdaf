#include "tool/protection_notice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

using testing::HasSubstr;

TEST(ProtectionNotice, IsSilentWhereNothingIsOpen) { EXPECT_FALSE(protection_notice(Protection::private_)); }

TEST(ProtectionNotice, SaysWhatIsOpen) {
  EXPECT_THAT(protection_notice(Protection::safe).value_or(""), HasSubstr("can read"));
  EXPECT_THAT(protection_notice(Protection::auth).value_or(""), HasSubstr("read and change"));
}

TEST(ProtectionNotice, IsLoudAtClear) {
  EXPECT_THAT(protection_notice(Protection::clear).value_or(""), HasSubstr("WARNING"));
}

}  // namespace
}  // namespace udtcat::tool
