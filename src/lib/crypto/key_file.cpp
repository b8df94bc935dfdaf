// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/key_file.hpp"

#include <cerrno>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::crypto {

namespace {

constexpr std::size_t kMaxKeyFileBytes = 4096;  // guess: a key is 70 characters; white space around it is fine
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr uid_t kRoot = 0;

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | flags)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) std::ignore = ::close(number_);  // nothing was written: nothing can be lost
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  const int number_;
};

tl::unexpected<Error> refused_file(const std::string& path, std::string why) {
  return fail(Errc::bad_argument, fmt::format("key file \"{}\"", path), std::move(why));
}

/// Permissions are checked for regular files only: a pipe was opened by the user.
Status check_access(const std::string& path, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return {};
  if (about.st_uid != ::geteuid() && about.st_uid != kRoot)
    return refused_file(path, "it belongs to another user, who can know or change it");
  const mode_t mode = about.st_mode & 07777U;
  if ((mode & kOthers) != 0)
    return refused_file(
        path, fmt::format("permissions {:04o} are too open; it must not be accessible by others: chmod 600 it", mode));
  return {};
}

}  // namespace

Result<core::SecretText> read_key_file(const std::string& path, Key::FromFile kind) {
  // O_NONBLOCK opens a pipe without a writer at once, so that it can be refused.
  const OpenFile file(path, kind == Key::FromFile::regular_only ? O_NONBLOCK : 0);
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return refused_file(path, core::errno_text(errno));
  if (kind == Key::FromFile::regular_only && !S_ISREG(about.st_mode))
    return refused_file(path, "it is no regular file");
  UDTCAT_CHECK(check_access(path, about));
  core::SecretText text;
  text.reserve(kMaxKeyFileBytes);
  // Byte by byte: behind the line in a pipe may stand data that is not ours to take.
  for (char byte = 0; text.size_bytes() < kMaxKeyFileBytes;) {
    const ssize_t taken = ::read(file.number(), &byte, 1);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return refused_file(path, core::errno_text(errno));
    if (taken == 0 || (byte == '\n' && !S_ISREG(about.st_mode))) break;
    text.append(byte);
  }
  return text;
}

tl::unexpected<Error> not_in_key_file(const std::string& path, const Error& why) {
  return refused_file(path, why.cause.empty() ? why.message() : why.cause);
}

}  // namespace udtcat::crypto
