// SPDX-License-Identifier: Apache-2.0
#include "tool/status/service_manager.hpp"

#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tool/support/pipe.hpp"

namespace udtcat::tool {
namespace {

/// As systemd writes it.
void name_journal(int descriptor) {
  struct stat about {};
  ASSERT_EQ(::fstat(descriptor, &about), 0);
  ::setenv("JOURNAL_STREAM", (std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino)).c_str(), 1);
}

TEST(Journal, IsKnownByItsDeviceAndItsNumber) {
  const Pipe journal;
  const Pipe other;
  name_journal(journal.writer());
  EXPECT_TRUE(is_journal(journal.writer()));
  EXPECT_FALSE(is_journal(other.writer()));
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(is_journal(journal.writer()));
}

}  // namespace
}  // namespace udtcat::tool
