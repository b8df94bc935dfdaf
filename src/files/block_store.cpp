// SPDX-License-Identifier: Apache-2.0
#include "files/block_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr const char* kUnfinished = ".part";  // custom
constexpr std::size_t kHoleBytes = 4'096;     // spec: a page, below which no file system leaves a hole

tl::unexpected<Error> failed(Errc code, const char* doing, const FileLocation& location, int error) {
  return fail(code, std::string(doing) + ' ' + location.shown(), core::errno_text(error));
}

/// Whether it can be read and written at offsets.  returns  0, or an errno
int check_kind(const bridge::Descriptor& descriptor) {
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ? ESPIPE : 0;
}

std::size_t to_page_end(std::uint64_t offset, std::size_t bytes) {
  return std::min<std::size_t>(kHoleBytes - offset % kHoleBytes, bytes);
}

}  // namespace

Result<BlockStore> BlockStore::open_to_read(const FileLocation& location) {
  UDTCAT_TRY(auto descriptor, location.open(O_RDONLY, Errc::local_read_failed));
  return of(std::move(descriptor), location.shown());
}

Result<BlockStore> BlockStore::of(bridge::Descriptor descriptor, std::string shown) {
  const FileLocation location(std::move(shown));
  if (const int error = check_kind(descriptor); error != 0)
    return failed(Errc::local_read_failed, "read", location, error);
  return BlockStore(std::move(descriptor), location);
}

Result<BlockStore> BlockStore::open_to_write(const FileLocation& location) {
  if (location.is_special()) return open_in_place(location);
  if (location.is_directory()) return failed(Errc::local_write_failed, "write", location, EISDIR);
  const FileLocation unfinished = location.with_suffix(kUnfinished);
  for (;;) {
    UDTCAT_TRY(auto descriptor, unfinished.open(O_WRONLY | O_CREAT, Errc::local_write_failed));
    if (::flock(descriptor.number(), LOCK_EX | LOCK_NB) != 0)
      return fail(Errc::out_of_resources, "write " + location.shown(), "another transfer is writing it");
    // Another transfer may have published it between open() and flock(): then the descriptor is a whole file.
    if (!unfinished.leads_to(descriptor)) continue;
    BlockStore store(std::move(descriptor), unfinished);
    store.publish_as_ = location;
    store.holes_from_ = store.size().value_or(UINT64_MAX);
    return store;
  }
}

Result<BlockStore> BlockStore::open_in_place(const FileLocation& location) {
  UDTCAT_TRY(auto descriptor, location.open(O_WRONLY | O_CREAT, Errc::local_write_failed));
  if (const int error = check_kind(descriptor); error != 0)
    return failed(Errc::local_write_failed, "write", location, error);
  return BlockStore(std::move(descriptor), location);
}

std::optional<std::uint64_t> BlockStore::size() const {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

Status BlockStore::unchanged() const {
  if (!opened_size_ || (size() == opened_size_ && changed() == opened_changed_)) return {};
  return fail(Errc::local_read_failed, "read " + location_.shown(), "it has changed meanwhile");
}

std::int64_t BlockStore::changed() const {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0) return 0;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
}

Result<std::size_t> BlockStore::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  return read_whole_at(descriptor_, offset, into, location_.shown());
}

/// Bytes at the front of `from` that need not be written, as they are zero there already; at most to the end of a page.
std::size_t BlockStore::hole_at(std::uint64_t offset, std::span<const std::byte> from) const {
  if (offset < holes_from_) return 0;
  const auto piece = from.first(to_page_end(offset, from.size()));
  const bool zero = piece.front() == std::byte{0} && std::memcmp(piece.data(), piece.data() + 1, piece.size() - 1) == 0;
  return zero ? piece.size() : 0;
}

Status BlockStore::write_first(std::uint64_t offset, std::span<const std::byte> from) const {
  while (!from.empty()) {
    std::size_t data = 0;
    std::size_t hole = 0;
    while (data < from.size() && (hole = hole_at(offset + data, from.subspan(data))) == 0)
      data += to_page_end(offset + data, from.size() - data);
    UDTCAT_CHECK(write_at(offset, from.first(data)));
    offset += data + hole;
    from = from.subspan(data + hole);
  }
  return {};
}

Status BlockStore::write_at(std::uint64_t offset, std::span<const std::byte> from) const {
  return write_whole_at(descriptor_, offset, from, location_.shown());
}

Status BlockStore::reach(std::uint64_t bytes) const {
  if (size().value_or(bytes) >= bytes) return {};
  if (::ftruncate(descriptor_.number(), static_cast<off_t>(bytes)) != 0)
    return failed(Errc::local_write_failed, "set the size of", location_, errno);
  return {};
}

Status BlockStore::sync() const {
  if (::fdatasync(descriptor_.number()) != 0) return failed(Errc::local_write_failed, "write", location_, errno);
  return {};
}

Status BlockStore::publish(std::uint64_t bytes) const {
  if (!publish_as_) return {};
  if (::ftruncate(descriptor_.number(), static_cast<off_t>(bytes)) != 0)
    return failed(Errc::local_write_failed, "set the size of", location_, errno);
  UDTCAT_CHECK(sync());
  return location_.rename_to(*publish_as_);
}

void BlockStore::clear() {
  // Where that fails, zeros have to be written too, over the old bytes.
  holes_from_ = publish_as_ && ::ftruncate(descriptor_.number(), 0) == 0 ? 0 : UINT64_MAX;
}

void BlockStore::discard() const {
  if (publish_as_) location_.remove();
}

Status BlockStore::close() {
  if (const auto error = descriptor_.close())
    return failed(Errc::local_write_failed, "write", location_, error.value());
  return {};
}

}  // namespace udtcat::files
