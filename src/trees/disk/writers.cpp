// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/writers.hpp"

#include <cerrno>
#include <csignal>
#include <tuple>

#include <fcntl.h>

namespace udtcat::trees {

namespace {

Writers take_lease(const bridge::Descriptor& file) {
  // The kernel signals us when somebody wants to write; SIGURG does nothing by default, where SIGIO ends a process.
  if (::fcntl(file.number(), F_SETSIG, SIGURG) != 0) return Writers::unknown;
  if (::fcntl(file.number(), F_SETLEASE, F_RDLCK) == 0) return Writers::none;
  return errno == EAGAIN ? Writers::some : Writers::unknown;
}

}  // namespace

QuietFile::QuietFile(const bridge::Descriptor& file) : file_(file), writers_(take_lease(file)) {}

QuietFile::~QuietFile() {
  if (writers_ == Writers::none) std::ignore = ::fcntl(file_.number(), F_SETLEASE, F_UNLCK);
}

bool QuietFile::is_quiet() const { return writers_ == Writers::none && ::fcntl(file_.number(), F_GETLEASE) == F_RDLCK; }

Writers writers_of(const bridge::Descriptor& file) { return QuietFile(file).writers(); }

bool write_back(const bridge::Descriptor& file) {
  return ::sync_file_range(file.number(), 0, 0,
                           SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0;
}

bool drop_page_cache(const bridge::Descriptor& file) {
  return ::fdatasync(file.number()) == 0 && ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED) == 0;
}

}  // namespace udtcat::trees
