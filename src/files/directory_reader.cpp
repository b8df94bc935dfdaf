// SPDX-License-Identifier: Apache-2.0
#include "files/directory_reader.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace udtcat::files {

namespace {

constexpr std::size_t kEntriesBytes = 32'768;  // guess: as the C library asks for

}  // namespace

tl::expected<std::optional<std::string>, int> DirectoryReader::next() {
  entries_.resize(kEntriesBytes);
  for (;;) {
    if (begin_ == end_) {
      const ssize_t got = ::getdents64(directory_.number(), entries_.data(), entries_.size());
      const int error = errno;
      if (got < 0 && !(error == ENOENT && was_removed())) return tl::unexpected(error);
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
  if (::fstat(directory_.number(), &status) != 0) return errno == ENOENT || errno == ESTALE;
  if (status.st_nlink == 0) return true;
  // An overlay shows a name more than there is.
  std::array<char, PATH_MAX> name{};
  const auto bytes = ::readlink(fmt::format("/proc/self/fd/{}", directory_.number()).c_str(), name.data(), name.size());
  return bytes > 0 && std::string_view(name.data(), static_cast<std::size_t>(bytes)).ends_with(" (deleted)");
}

}  // namespace udtcat::files
