// SPDX-License-Identifier: Apache-2.0
#include "lib/net/bind_errors.hpp"

#include <gtest/gtest.h>

namespace udtcat::net {
namespace {

Error bind_failed(int errno_value) { return {Errc::cannot_bind, "bind udp 0.0.0.0:1000", {}, errno_value}; }

TEST(BindErrors, LetAnotherPortDoWhereOneIsTaken) { EXPECT_TRUE(another_port_may_do(bind_failed(EADDRINUSE), 20'000)); }

TEST(BindErrors, LetAnotherPortDoWhereOneIsForRootAlone) {
  EXPECT_TRUE(another_port_may_do(bind_failed(EACCES), 1000));
  EXPECT_FALSE(another_port_may_do(bind_failed(EACCES), 20'000)) << "so are all others of the range";
}

TEST(BindErrors, LetNoOtherPortDoWhereTheAddressIsNotHere) {
  EXPECT_FALSE(another_port_may_do(bind_failed(EADDRNOTAVAIL), 20'000));
}

TEST(BindErrors, LetNoOtherPortDoWhereTheHostRanOutOfSomething) {
  EXPECT_FALSE(another_port_may_do({Errc::out_of_resources, "bind udp", {}, EMFILE}, 20'000));
}

}  // namespace
}  // namespace udtcat::net
