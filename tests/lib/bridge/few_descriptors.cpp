// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/few_descriptors.hpp"

#include <atomic>
#include <cerrno>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
std::atomic<bool> none_left = false;
}

/// Stands before the C library's, in this test program only.
extern "C" int accept(int listening, sockaddr* peer, socklen_t* length) {
  if (none_left) {
    errno = EMFILE;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_accept4, listening, peer, length, 0));
}

namespace udtcat::bridge {

FewDescriptors::FewDescriptors() { none_left = true; }
FewDescriptors::~FewDescriptors() { none_left = false; }

}  // namespace udtcat::bridge
