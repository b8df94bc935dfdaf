// SPDX-License-Identifier: Apache-2.0
/// Some of a test as somebody who is not root.
#pragma once

#include <unistd.h>

#include <gtest/gtest.h>

namespace udtcat::test {

/// While it lives this process has the rights of the user nobody, where it had those of root: the system's limits hold.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (::geteuid() == 0) become(kNobody);
  }
  ~OrdinaryUser() {
    if (::getuid() == 0) become(0);
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  static void become(uid_t user) {
    if (::seteuid(user) != 0) ADD_FAILURE() << "seteuid " << user;
  }
};

}  // namespace udtcat::test
