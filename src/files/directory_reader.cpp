// SPDX-License-Identifier: Apache-2.0
#include "files/directory_reader.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <sys/stat.h>

namespace udtcat::files {

namespace {

constexpr std::size_t kEntriesBytes = 32'768;  // guess: as the C library asks for

}  // namespace

tl::expected<std::optional<std::string>, int> DirectoryReader::next() {
  entries_.resize(kEntriesBytes);
  for (;;) {
    if (begin_ == end_) {
      const ssize_t got = ::getdents64(directory_.number(), entries_.data(), entries_.size());
      if (got < 0 && !(errno == ENOENT && was_removed())) return tl::unexpected(errno);
      if (got <= 0) return std::nullopt;
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
    }
    const std::byte* const entry = entries_.data() + begin_;
    // SAFETY: the kernel writes whole entries, each with its length and a name that ends with a zero.
    decltype(dirent64::d_reclen) bytes = 0;
    std::memcpy(&bytes, entry + offsetof(dirent64, d_reclen), sizeof bytes);
    const std::string_view name = reinterpret_cast<const char*>(entry + offsetof(dirent64, d_name));
    begin_ += bytes;
    if (name != "." && name != "..") return std::string(name);
  }
}

bool DirectoryReader::was_removed() const {
  struct stat status {};
  const bool was_removed = ::fstat(directory_.number(), &status) == 0 && status.st_nlink == 0;
  if (!was_removed) errno = ENOENT;  // what was said before
  return was_removed;
}

}  // namespace udtcat::files
