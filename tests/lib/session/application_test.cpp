// SPDX-License-Identifier: Apache-2.0
#include "lib/session/application.hpp"

#include <gtest/gtest.h>

namespace udtcat::session {
namespace {

TEST(Application, OfUdtcatTravelsAsTheNumberOfTheSpec) {
  EXPECT_EQ(assigned_number("pipe"), 1);
  EXPECT_EQ(assigned_number("trees"), 8);
  EXPECT_EQ(assigned_number("greeter"), 0);
  for (int number = 1; number < 256; ++number)
    EXPECT_EQ(assigned_number(application_of(static_cast<std::uint8_t>(number))), number);
}

TEST(Application, OfANumberThatIsAssignedToNoneIsNoNameThatAnEndMayHave) {
  EXPECT_FALSE(is_service_name(application_of(9)));
}

TEST(Application, HasANameThatIsNeitherEmptyNorLong) {
  SessionOptions session;
  EXPECT_EQ(check_application(session).error().code, Errc::bad_argument);
  session.application = "#1";
  EXPECT_FALSE(check_application(session));
  session.application = std::string(kMaxServiceNameBytes + 1, 'a');
  EXPECT_FALSE(check_application(session));
  session.application.pop_back();
  EXPECT_TRUE(check_application(session));
}

TEST(ApplicationRefusal, FitsIntoARefusal) {
  constexpr std::size_t kMostBytes = 256;  // spec: handshake.md §4, reason
  EXPECT_LE(application_refusal("", "#200", nullptr).size(), kMostBytes);
  EXPECT_NE(application_refusal("pipe", "", nullptr).find("older"), std::string::npos);
  EXPECT_NE(application_refusal("pipe", "#200", nullptr).find("later"), std::string::npos);
}

}  // namespace
}  // namespace udtcat::session
