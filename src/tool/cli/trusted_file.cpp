// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/trusted_file.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <udtcat/units.hpp>

#include "lib/bridge/descriptor.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

constexpr std::size_t kMaxFileBytes = 1 * kMiB;  // guess: ten thousand lines

tl::unexpected<Error> refused(const std::string& path, std::string why) {
  return fail(Errc::bad_argument, "read " + path, std::move(why));
}

}  // namespace

Result<std::string> read_trusted_file(const std::string& path) {
  // A pipe that nobody writes to is opened at once, so that it can be refused.
  const bridge::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return refused(path, core::errno_text(errno));
  if (!S_ISREG(about.st_mode)) return refused(path, "it is no regular file");
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0 || (about.st_uid != 0 && about.st_uid != ::geteuid()))
    return refused(path, "others can write to it, and so to what it says: chown it to you or root, and chmod go-w");
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() <= kMaxFileBytes) {
    const ssize_t taken = ::read(file.number(), piece.data(), piece.size());
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return refused(path, core::errno_text(errno));
    if (taken == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(taken));
  }
  return refused(path, "it is larger than a megabyte");
}

}  // namespace udtcat::tool
