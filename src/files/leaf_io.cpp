// SPDX-License-Identifier: Apache-2.0
#include "files/leaf_io.hpp"

#include <cerrno>

#include <unistd.h>

#include "lib/core/user_text.hpp"

namespace udtcat::files {

Status read_leaf(const bridge::Descriptor& file, std::uint64_t offset, std::span<std::byte> into,
                 const std::string& shown) {
  while (!into.empty()) {
    const ssize_t got = ::pread(file.number(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Errc::local_read_failed, "read " + shown, core::errno_text(errno));
    if (got == 0) return fail(Errc::local_read_failed, "read " + shown, "it has become shorter meanwhile");
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Status write_at(const bridge::Descriptor& file, std::uint64_t offset, std::span<const std::byte> from,
                const std::string& shown) {
  while (!from.empty()) {
    const ssize_t put = ::pwrite(file.number(), from.data(), from.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(Errc::local_write_failed, "write " + shown, core::errno_text(errno));
    from = from.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

}  // namespace udtcat::files
