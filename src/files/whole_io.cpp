// SPDX-License-Identifier: Apache-2.0
#include "files/whole_io.hpp"

#include <cerrno>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include <udtcat/units.hpp>

#include "lib/core/try.hpp"
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
    if (got < 0) return core::fail_by_errno(Errc::local_read_failed, "read " + shown);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

/// write_some   of the bytes that are still to go, and how many have
template <typename WriteSome>
Status write_until_whole(std::span<const std::byte> from, const std::string& shown, const WriteSome& write_some) {
  std::size_t written = 0;
  while (written < from.size()) {
    const ssize_t put = write_some(from.subspan(written), written);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return core::fail_by_errno(Errc::local_write_failed, "write " + shown);
    written += static_cast<std::size_t>(put);
  }
  return {};
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
  return write_until_whole(from, shown, [&](std::span<const std::byte> rest, std::size_t) {
    return ::write(file.number(), rest.data(), rest.size());
  });
}

Status write_whole_at(const bridge::Descriptor& file, std::uint64_t offset, std::span<const std::byte> from,
                      const std::string& shown) {
  return write_until_whole(from, shown, [&](std::span<const std::byte> rest, std::size_t written) {
    return ::pwrite(file.number(), rest.data(), rest.size(), static_cast<off_t>(offset + written));
  });
}

Status read_exactly_at(const bridge::Descriptor& file, std::uint64_t offset, std::span<std::byte> into,
                       const std::string& shown) {
  UDTCAT_TRY(const std::size_t got, read_whole_at(file, offset, into, shown));
  if (got < into.size()) return fail(Errc::local_read_failed, "read " + shown, "it has become shorter meanwhile");
  return {};
}

}  // namespace udtcat::files
