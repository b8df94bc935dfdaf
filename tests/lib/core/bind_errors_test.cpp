// SPDX-License-Identifier: Apache-2.0
#include "lib/core/bind_errors.hpp"

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

Error bind_failed(int errno_value) { return {Errc::cannot_bind, "bind udp 0.0.0.0:1000", {}, errno_value}; }

TEST(BindErrors, AreOfAPortThatIsTaken) { EXPECT_TRUE(is_of_port(bind_failed(EADDRINUSE), 20'000)); }

TEST(BindErrors, AreOfAPortThatIsForRootAlone) {
  EXPECT_TRUE(is_of_port(bind_failed(EACCES), 1000));
  EXPECT_FALSE(is_of_port(bind_failed(EACCES), 20'000)) << "so are all others of the range";
}

TEST(BindErrors, AreOfEachPortWhereTheAddressIsNotHere) {
  EXPECT_FALSE(is_of_port(bind_failed(EADDRNOTAVAIL), 20'000));
  EXPECT_FALSE(is_of_port({Errc::out_of_resources, "bind udp", {}, EADDRINUSE}, 20'000));
}

}  // namespace
}  // namespace udtcat::core
