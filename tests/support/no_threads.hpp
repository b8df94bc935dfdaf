// SPDX-License-Identifier: Apache-2.0
/// A process that gets no threads.
#pragma once

#include <pthread.h>

#include <cstddef>

#include <gtest/gtest.h>

namespace udtcat::test {

/// While it lives every new thread wants a stack for which no address space has room.
class NoThreads {
 public:
  NoThreads() {
    EXPECT_EQ(::pthread_getattr_default_np(&before_), 0);
    pthread_attr_t huge;
    EXPECT_EQ(::pthread_attr_init(&huge), 0);
    EXPECT_EQ(::pthread_attr_setstacksize(&huge, kNoRoomBytes), 0);
    EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
    ::pthread_attr_destroy(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    EXPECT_EQ(::pthread_setattr_default_np(&before_), 0);
    ::pthread_attr_destroy(&before_);
  }

 private:
  static constexpr std::size_t kNoRoomBytes = std::size_t{1} << 47;  // what a process of amd64 has in all

  pthread_attr_t before_{};
};

}  // namespace udtcat::test
