// SPDX-License-Identifier: Apache-2.0
#include "files/whole_io.hpp"

#include <cerrno>

#include <sys/types.h>
#include <unistd.h>

#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

/// read_some   of the bytes that are still to come, and how many have
template <typename ReadSome>
Result<std::size_t> read_until_whole(std::span<std::byte> into, const std::string& shown, const ReadSome& read_some) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got = read_some(into.subspan(filled), filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Errc::local_read_failed, "read " + shown, core::errno_text(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace

Result<std::size_t> read_whole(const bridge::Descriptor& file, std::span<std::byte> into, const std::string& shown) {
  return read_until_whole(into, shown, [&](std::span<std::byte> rest, std::size_t) {
    return ::read(file.number(), rest.data(), rest.size());
  });
}

Result<std::size_t> read_whole_at(const bridge::Descriptor& file, std::uint64_t offset, std::span<std::byte> into,
                                  const std::string& shown) {
  return read_until_whole(into, shown, [&](std::span<std::byte> rest, std::size_t filled) {
    return ::pread(file.number(), rest.data(), rest.size(), static_cast<off_t>(offset + filled));
  });
}

Status write_whole(const bridge::Descriptor& file, std::span<const std::byte> from, const std::string& shown) {
  while (!from.empty()) {
    const ssize_t put = ::write(file.number(), from.data(), from.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(Errc::local_write_failed, "write " + shown, core::errno_text(errno));
    from = from.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace udtcat::files
