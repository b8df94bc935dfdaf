// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/accounts.hpp"

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "support/failing_calls.hpp"

namespace udtcat::trees {
namespace {

constexpr std::uint32_t kUnknown = 3'999'999'999;

TEST(Accounts, HaveNamesWhereTheyAreKnown) {
  const Owner root = owner_of(0, 0).value();
  EXPECT_EQ(root.user, "root");
  EXPECT_EQ(root.group, "root");
  EXPECT_EQ(owner_of(kUnknown, 0).value().user, "");
  EXPECT_EQ(owner_of(kUnknown, 0).value().uid, kUnknown);
}

TEST(Accounts, AreFoundByNameAndElseByNumber) {
  const auto ids = ids_of({.uid = 17, .gid = 18, .user = "root", .group = "no group of this name"}).value();
  EXPECT_EQ(ids.uid, 0U);
  EXPECT_EQ(ids.gid, 18U);
  EXPECT_EQ(ids_of({.uid = 17, .gid = 18, .user = "", .group = ""}).value().uid, 17U);
}

TEST(Accounts, AreNotTakenForMissingWhereNobodyCanBeAsked) {
  std::thread([] {
    test::fail_calls({SYS_openat}, EMFILE);
    EXPECT_FALSE(owner_of(1, 2));
    EXPECT_FALSE(ids_of({.uid = 17, .gid = 18, .user = "daemon", .group = "daemon"}));
  }).join();
  EXPECT_EQ(owner_of(1, 2).value().user, "daemon") << "a failure is not remembered";
  EXPECT_EQ(ids_of({.uid = 17, .gid = 18, .user = "daemon", .group = "daemon"}).value().uid, 1U);
}

TEST(Accounts, RefuseTheNumberThatMeansNone) {
  constexpr std::uint32_t kNone = 0xffffffff;
  EXPECT_EQ(ids_of({.uid = kNone, .gid = 0, .user = "", .group = ""}).error().code, Errc::local_write_failed);
  EXPECT_EQ(ids_of({.uid = 0, .gid = kNone, .user = "", .group = ""}).error().code, Errc::local_write_failed);
  EXPECT_TRUE(ids_of({.uid = kNone, .gid = 0, .user = "root", .group = ""}));
}

TEST(Machines, AreTheSameEachTime) { EXPECT_EQ(this_machine(), this_machine()); }

}  // namespace
}  // namespace udtcat::trees
