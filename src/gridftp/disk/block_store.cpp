// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/block_store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kHoleBytes = 4'096;  // spec: a page, below which no file system leaves a hole

tl::unexpected<Error> failed(Errc code, const char* doing, const files::FileLocation& location, int error) {
  return fail(code, std::string(doing) + ' ' + location.shown(),
              error == ESPIPE ? "it is a pipe, and no file" : core::errno_text(error));
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

Result<BlockStore> BlockStore::open_to_read(const files::FileLocation& location) {
  UDTCAT_TRY(auto descriptor, location.open(O_RDONLY, Errc::local_read_failed));
  return of(std::move(descriptor), location.shown());
}

Result<BlockStore> BlockStore::of(bridge::Descriptor descriptor, std::string shown) {
  const files::FileLocation location(std::move(shown));
  if (const int error = check_kind(descriptor); error != 0)
    return failed(Errc::local_read_failed, "read", location, error);
  return BlockStore(std::move(descriptor), location);
}

Result<BlockStore> BlockStore::open_to_write(const files::FileLocation& location) {
  if (location.is_special()) return open_in_place(location);
  if (location.is_directory()) return failed(Errc::local_write_failed, "write", location, EISDIR);
  UDTCAT_TRY(auto opened, open_partial_file(location));
  BlockStore store(std::move(opened.descriptor), opened.names.part);
  store.publish_as_ = location;
  store.partial_ = std::move(opened.names);
  store.turn_ = std::move(opened.turn);
  store.holes_from_ = store.size().value_or(UINT64_MAX);
  return store;
}

Result<BlockStore> BlockStore::open_in_place(const files::FileLocation& location) {
  const auto there = location.look();
  if (there && *there && !S_ISREG((*there)->st_mode) && !S_ISCHR((*there)->st_mode) && !S_ISBLK((*there)->st_mode))
    return fail(Errc::local_write_failed, "write " + location.shown(),
                fmt::format("it is {}, and nothing is written through that", kind_in_words((*there)->st_mode)));
  const bool is_there = there && *there;
  std::optional<bridge::Descriptor> made;
  if (!is_there) made = location.make_file(O_WRONLY).value_or(std::nullopt);  // else open(2) says why not
  const bool is_made = made.has_value();
  if (!made) {
    UDTCAT_TRY(made, location.open(is_there ? O_WRONLY : O_WRONLY | O_CREAT, Errc::local_write_failed));
  }
  bridge::Descriptor descriptor = std::move(*made);
  if (const int error = check_kind(descriptor); error != 0)
    return failed(Errc::local_write_failed, "write", location, error);
  struct stat status {};
  if (::fstat(descriptor.number(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1)
    return fail(Errc::local_write_failed, "write into " + location.shown(),
                fmt::format("it has {} names, and all would change: the whole file may be written anew instead",
                            status.st_nlink));
  BlockStore store(std::move(descriptor), location);
  store.is_made_ = is_made;
  return store;
}

void BlockStore::charge_to(const std::shared_ptr<files::DirectoryUse>& use) {
  use_ = use;
  charged_file_ = use->open(descriptor_);
  if (partial_) partial_->use = use;
}

std::uint64_t BlockStore::new_bytes() const {
  return files::kNameBytes + (partial_ ? partial_->journal_of("-").charged_bytes() : 0);
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

Status BlockStore::has_its_size(std::optional<std::uint64_t> ended_at) const {
  if (!opened_size_) return {};
  UDTCAT_CHECK(unchanged());
  const std::string what = "read " + location_.shown();
  if (ended_at && *ended_at < *opened_size_)
    return fail(Errc::local_read_failed, what,
                fmt::format("it ended after {} bytes, and its size tells of {}", *ended_at, *opened_size_));
  std::byte more{};
  UDTCAT_TRY(const std::size_t bytes, read_at(*opened_size_, std::span(&more, 1)));
  if (bytes == 0) return {};
  return fail(Errc::local_read_failed, what,
              fmt::format("it holds more than the {} bytes that its size tells of: a pipe carries it", *opened_size_));
}

std::optional<RestartJournal> BlockStore::journal(std::string identity) const {
  if (!partial_) return std::nullopt;
  return partial_->journal_of(std::move(identity));
}

Status BlockStore::begin_journal() const { return partial_ ? partial_->journal_of("-").begin() : Status(); }

std::int64_t BlockStore::changed() const {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0) return 0;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
}

Result<std::size_t> BlockStore::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  return files::read_whole_at(descriptor_, offset, into, location_.shown());
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
  return files::write_whole_at(descriptor_, offset, from, location_.shown());
}

Status BlockStore::reach(std::uint64_t bytes) const {
  if (size().value_or(bytes) >= bytes) return {};
  // Another thread may have written there since the size was looked at: ftruncate(2) would cut that, and a zero replace
  // its last byte.
  int error = 0;
  do error = ::fallocate(descriptor_.number(), 0, static_cast<off_t>(bytes - 1), 1) == 0 ? 0 : errno;
  while (error == EINTR);
  if (error == 0) return {};
  if (error != EOPNOTSUPP && error != ENOSYS) return failed(Errc::local_write_failed, "write", location_, error);
  // As with NFS 3: the zero may replace the last byte of a block that comes again meanwhile with another one there.
  return files::write_whole_at(descriptor_, bytes - 1, std::array{std::byte{0}}, location_.shown());
}

Status BlockStore::sync() const {
  if (::fdatasync(descriptor_.number()) == 0) return {};
  // EINVAL: there is nothing to wait for, as with most devices.  spec: fsync(2)
  if (errno == EINVAL) return {};
  return failed(Errc::local_write_failed, "write", location_, errno);
}

Status BlockStore::complete(std::uint64_t bytes) const {
  // Some file systems cannot set a size, and mostly none has to be set.
  if (publish_as_ && size() != bytes && ::ftruncate(descriptor_.number(), static_cast<off_t>(bytes)) != 0)
    return failed(Errc::local_write_failed, "set the size of", location_, errno);
  UDTCAT_CHECK(sync());
  return flush();
}

Status BlockStore::flush() const {
  bridge::Descriptor another(::fcntl(descriptor_.number(), F_DUPFD_CLOEXEC, 0));
  if (!another.is_open()) return failed(Errc::local_write_failed, "close", location_, errno);
  if (const auto error = another.close()) return failed(Errc::local_write_failed, "close", location_, error.value());
  return {};
}

Status BlockStore::put_in_place() const {
  if (!publish_as_) return location_.sync_name();  // it may have been made
  if (!location_.is_only_name() || !location_.names(descriptor_))
    return fail(Errc::local_write_failed, "rename " + location_.shown() + " to " + publish_as_->shown(),
                "it is another file by now, or has another name as well");
  UDTCAT_CHECK(rename_in(use_, location_, *publish_as_));
  // Removed afterwards: without it FILE.part would be nobody's, and stay. Alone it is cleared away by the next begin().
  partial_->journal_of("-").remove();
  return publish_as_->sync_name();
}

Status BlockStore::publish(std::uint64_t bytes) const {
  UDTCAT_CHECK(complete(bytes));
  return put_in_place();
}

void BlockStore::clear() {
  // Where that fails, zeros have to be written too, over the old bytes.
  holes_from_ = publish_as_ && ::ftruncate(descriptor_.number(), 0) == 0 ? 0 : UINT64_MAX;
}

void BlockStore::discard() const {
  if (!publish_as_ && (!is_made_ || size() != 0)) return;
  std::ignore = remove_in(use_, location_, [this]() -> Status {
    if (!location_.is_only_name() || !location_.names(descriptor_))
      return fail(Errc::local_write_failed, "remove " + location_.shown(), "it is another file by now");
    location_.remove();
    return {};
  });
  if (partial_) partial_->journal_of("-").remove();
}

Status BlockStore::close() {
  turn_.reset();
  charged_file_.close();
  const auto error = descriptor_.close();
  if (error) return failed(Errc::local_write_failed, "write", location_, error.value());
  return {};
}

}  // namespace udtcat::gridftp
