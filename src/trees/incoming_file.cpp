// SPDX-License-Identifier: Apache-2.0
#include "trees/incoming_file.hpp"

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/chunk_reader.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kWriteBehindBytes = 8'388'608;  // guess: a disk's stripe or two

tl::unexpected<ScopedError> out_of_order(const Entry& entry, const char* cause) {
  return of_transfer(fail(Errc::protocol_violated, "take chunks of " + entry.path, cause));
}

/// A disk that is full, broken or read-only would refuse the content of the next file, too, and ends the transfer.
ScopedError scope_of_content_error(Error error) {
  switch (error.errno_value) {
    case EACCES:
    case EFBIG:
    case EISDIR:
    case ELOOP:
    case ENOENT:
    case ENOTDIR:
    case EPERM:
      return NameError(std::move(error));
    default:
      return ScopedError::of_transfer(std::move(error));
  }
}

}  // namespace

Error IncomingFile::failed(const char* doing) const {
  return {Errc::local_write_failed, fmt::format("{} {}", doing, destination_.tree().shown(entry_.path)),
          core::errno_text(errno)};
}

ScopedStatus IncomingFile::expect(std::uint64_t chunk, std::uint64_t count) const {
  const std::uint64_t chunks = chunks_of(entry_.size_bytes);
  if (chunk != next_chunk_ || count == 0 || count > chunks - next_chunk_)
    return out_of_order(entry_, "they are not the next ones");
  return {};
}

/// Opens basis_, unless its content has changed since its chunks were hashed.
NameStatus IncomingFile::take_up_basis() {
  if (existing_.is_open() || part_.is_open()) return {};
  UDTCAT_TRY(bridge::Descriptor file, open_basis(destination_, entry_.path, *basis_));
  struct stat now {};
  if (::fstat(file.number(), &now) != 0 || !is_same_content(now, basis_->status))
    return fail(Errc::local_read_failed, "replace " + destination_.tree().shown(entry_.path),
                "somebody else is writing it");
  if (basis_->is_part) {
    part_ = std::move(file);
    charged_part_ = destination_.write_budget().open(part_);
    part_bytes_ = reserved_bytes_ = static_cast<std::uint64_t>(basis_->status.st_size);
  } else {
    existing_ = std::move(file);
    charged_existing_ = destination_.write_budget().open(existing_);
  }
  return {};
}

/// Opens the part to be written; one that is not the basis is replaced by an empty one.
ScopedStatus IncomingFile::open_part() {
  if (part_.is_open()) return {};
  if (basis_ && basis_->why_it_stays) return tl::unexpected(*basis_->why_it_stays);
  if (basis_) UDTCAT_CHECK(take_up_basis());
  if (part_.is_open()) return {};
  UDTCAT_TRY(const auto reservation, destination_.charge_name(entry_));
  UDTCAT_TRY(const auto own, destination_.folder_of(entry_.path));
  destination_.write_budget().remove(own.of(entry_.path));
  UDTCAT_TRY(part_, own.take(entry_.path).map_error(scope_of_content_error));
  // Where it could not be removed it still has other bytes.
  if (::ftruncate(part_.number(), 0) != 0) return tl::unexpected(NameError(failed("empty the part of")));
  charged_part_ = destination_.write_budget().open(part_);
  // Where blocks can be shared only chunks that differ take space.
  shares_blocks_ = existing_.is_open() && ::ioctl(part_.number(), FICLONE, existing_.number()) == 0;
  if (shares_blocks_) {
    part_bytes_ = static_cast<std::uint64_t>(basis_->status.st_size);
    UDTCAT_CHECK(reserve_to(part_bytes_));
  }
  for (std::uint64_t chunk = 0; chunk < copied_so_far_; ++chunk) UDTCAT_CHECK(copy_chunk(chunk));
  return {};
}

ScopedStatus IncomingFile::take(const Data& data) {
  UDTCAT_CHECK(expect(data.chunk, 1));
  const auto range = range_of_chunks(entry_.size_bytes, data.chunk);
  const std::uint64_t bytes = range.bytes();
  if (!data.extents.empty() && data.extents.back().offset + data.extents.back().bytes.size() > bytes)
    return out_of_order(entry_, "the file ends within them");
  if (!is_sealed_ && hash_of(data, bytes) != data.digest) return out_of_order(entry_, "one is not what its hash says");
  UDTCAT_CHECK(open_part());
  std::uint64_t written = 0;
  for (const Extent& extent : data.extents) {
    UDTCAT_CHECK(clear(range.begin + written, extent.offset - written));
    UDTCAT_CHECK(write(range.begin + extent.offset, extent.bytes));
    written = extent.offset + extent.bytes.size();
  }
  UDTCAT_CHECK(clear(range.begin + written, bytes - written));
  tree_.add(data.digest);
  ++next_chunk_;
  return {};
}

files::Digest IncomingFile::hash_of(const Data& data, std::uint64_t bytes) {
  const bool is_full = data.extents.size() == 1 && data.extents.front().bytes.size() == bytes;
  if (is_full) return hash_of_leaf(data.extents.front().bytes);
  memory_.assign(bytes, std::byte{0});
  for (const Extent& extent : data.extents)
    std::ranges::copy(extent.bytes, memory_.begin() + static_cast<std::ptrdiff_t>(extent.offset));
  return hash_of_leaf(memory_);
}

ScopedStatus IncomingFile::take(const Zeros& zeros) {
  UDTCAT_CHECK(expect(zeros.chunk, zeros.count));
  UDTCAT_CHECK(open_part());
  const auto range = range_of_chunks(entry_.size_bytes, zeros.chunk, zeros.count);
  UDTCAT_CHECK(clear(range.begin, range.bytes()));
  const std::uint64_t whole = range.bytes() / kChunkBytes;
  tree_.add(hash_of_zeros(), whole);
  if (whole < zeros.count) tree_.add(hash_of_leaf(std::vector<std::byte>(range.bytes() % kChunkBytes)));
  next_chunk_ += zeros.count;
  return {};
}

ScopedStatus IncomingFile::take(const CopyChunks& copy) {
  UDTCAT_CHECK(expect(copy.chunk, copy.count));
  if (!basis_ || copy.count > basis_->chunks.chunks() || copy.chunk > basis_->chunks.chunks() - copy.count)
    return out_of_order(entry_, "the receiver has not reported those");
  if (basis_->is_part) UDTCAT_CHECK(open_part());
  for (std::uint64_t chunk = copy.chunk; chunk < copy.chunk + copy.count;) {
    const auto run = basis_->chunks.run_at(chunk);
    const std::uint64_t count = std::min(run.chunks, copy.chunk + copy.count - chunk);
    tree_.add(run.digest, count);
    for (std::uint64_t each = chunk; each < chunk + count && !basis_->is_part && part_.is_open(); ++each)
      UDTCAT_CHECK(copy_chunk(each));
    chunk += count;
  }
  if (!part_.is_open()) copied_so_far_ += copy.count;
  next_chunk_ += copy.count;
  return {};
}

/// Copies a chunk of the file that has the name, which may have changed since its chunks were hashed.
ScopedStatus IncomingFile::copy_chunk(std::uint64_t chunk) {
  UDTCAT_CHECK(destination_.check_not_over(entry_.path));
  const auto range = range_of_chunks(entry_.size_bytes, chunk);
  memory_.resize(range.bytes());
  const std::string shown = destination_.tree().shown(entry_.path);
  UDTCAT_CHECK(of_name(files::read_exactly_at(shares_blocks_ ? part_ : existing_, range.begin, memory_, shown)));
  if (hash_of_leaf(memory_) != basis_->chunks.run_at(chunk).digest)
    return of_name(fail(Errc::local_read_failed, "replace " + shown, "somebody else is writing it"));
  if (shares_blocks_) return {};
  ScopedStatus written = write(range.begin, memory_);
  if (written) return written;
  // The disk may be full: the part is removed, as most of it is a copy of what has the name.
  UDTCAT_TRY(const auto own, destination_.folder_of(entry_.path));
  destination_.write_budget().remove(own.of(entry_.path));
  written.error().error.cause += ", while the new file stands beside the old one";
  return written;
}

ScopedStatus IncomingFile::take(const FileDone& done) {
  if (next_chunk_ != chunks_of(entry_.size_bytes)) return out_of_order(entry_, "some are missing");
  if (tree_.root() != done.digest) return out_of_order(entry_, "together they are not what their hash says");
  if (basis_ && !basis_->is_part && !part_.is_open()) {
    UDTCAT_TRY(const bool stands, keep_existing());
    if (stands) return {};
  }
  UDTCAT_CHECK(open_part());
  UDTCAT_TRY(const auto reservation, reserve_to(entry_.size_bytes));
  WriteBudget& budget = destination_.write_budget();
  const std::uint64_t since = budget.counts_so_far();
  UDTCAT_CHECK(finish_part());
  if (reserved_bytes_ > entry_.size_bytes) budget.release(reserved_bytes_ - entry_.size_bytes, since);
  return {};
}

/// Sets size and attributes, syncs the part where neither syncfs(2) nor the committer would, and closes it: some file
/// systems say only then that the disk is full.
NameStatus IncomingFile::finish_part() {
  if (::ftruncate(part_.number(), static_cast<off_t>(entry_.size_bytes)) != 0)
    return tl::unexpected(failed("set the size of"));
  UDTCAT_TRY(const auto own, destination_.folder_of(entry_.path));
  // A file that its owner may not read cannot be opened for that later.
  const bool is_synced_later =
      own.traits().writes_by_syncfs && ((entry_.attributes.mode & S_IRUSR) != 0 || ::geteuid() == 0);
  if (!own.traits().obeys_syncfs && !is_synced_later && ::fsync(part_.number()) != 0)
    return tl::unexpected(failed("store"));
  const bool is_new = !basis_ || !basis_->is_part;
  UDTCAT_CHECK(destination_.set_attributes_of(part_, entry_, is_new));
  charged_part_.close();
  const std::error_code error = part_.close();
  if (error) {
    const Error why{Errc::local_write_failed, "store " + destination_.tree().shown(entry_.path), error.message()};
    destination_.write_budget().remove(own.of(entry_.path));  // its content is not known
    return tl::unexpected(why);
  }
  UDTCAT_TRY(const auto status, own.of(entry_.path).look());
  if (!status || static_cast<std::uint64_t>(status->st_size) != entry_.size_bytes)
    return fail(Errc::local_write_failed, "store " + destination_.tree().shown(entry_.path),
                "its part has another size than was written");
  state_ = {.has_name = false,
            .needs_fsync = !own.traits().obeys_syncfs && is_synced_later,
            .may_be_cached = true,
            .status = *status};
  return {};
}

/// Keeps the file that has the name, and gives it the attributes.
/// returns  false: it has other names, too, which are not to get them; a part is to take its place
ScopedResult<bool> IncomingFile::keep_existing() {
  UDTCAT_CHECK(take_up_basis());
  struct stat before {};
  if (::fstat(existing_.number(), &before) != 0) return tl::unexpected(NameError(failed("look at")));
  if (before.st_nlink > 1) {
    UDTCAT_TRY(const bool has_all, destination_.has_attributes(before, entry_));
    if (!has_all) return false;
  }
  // Where its times do not tell of changes it is hashed again.
  const bool times_tell = basis_->times_tell && is_same_state(before, basis_->status);
  if (!times_tell) {
    UDTCAT_TRY(const bool is_equal, is_still_equal());
    if (!is_equal)
      return of_name(fail(Errc::local_read_failed, "keep " + destination_.tree().shown(entry_.path),
                          "somebody else is writing it"));
  }
  UDTCAT_CHECK(destination_.set_attributes_of(existing_, entry_, false));
  struct stat now {};
  if (::fstat(existing_.number(), &now) != 0) return tl::unexpected(NameError(failed("look at")));
  UDTCAT_TRY(const auto location, destination_.locate(entry_.path));
  if (!location.leads_to(existing_) || now.st_size != before.st_size)
    return of_name(fail(Errc::local_read_failed, "keep " + location.shown(), "somebody else has replaced it"));
  // A change by somebody else cannot be told from ours of the attributes, so after either it is not cached.
  state_ = {
      .has_name = true, .needs_fsync = false, .may_be_cached = times_tell && is_same_state(now, before), .status = now};
  return true;
}

/// Whether the file that has the name has the content of the sender's, read once more, without a change meanwhile.
ScopedResult<bool> IncomingFile::is_still_equal() {
  struct stat before {};
  struct stat after {};
  if (::fstat(existing_.number(), &before) != 0) return tl::unexpected(NameError(failed("look at")));
  const std::string shown = destination_.tree().shown(entry_.path);
  ChunkReader reader(existing_, entry_.size_bytes, memory_, shown);
  TreeHash again;
  for (;;) {
    UDTCAT_CHECK(destination_.check_not_over(entry_.path));
    UDTCAT_TRY(const auto chunk, of_name(reader.next()));
    if (!chunk) break;
    again.add(trees::hash_of(*chunk));
  }
  return ::fstat(existing_.number(), &after) == 0 && is_same_content(before, after) && again.root() == tree_.root();
}

/// A part that may not have its size would only keep others from theirs, and is removed.
ScopedResult<files::DirectoryUse::Reservation> IncomingFile::reserve_to(std::uint64_t bytes) {
  if (bytes <= reserved_bytes_) return files::DirectoryUse::Reservation();
  auto reservation = destination_.write_budget().reserve(bytes - reserved_bytes_, entry_.path);
  if (reservation) {
    reserved_bytes_ = bytes;
    return reservation;
  }
  UDTCAT_TRY(const auto own, destination_.folder_of(entry_.path));
  destination_.write_budget().remove(own.of(entry_.path));
  return reservation;
}

ScopedStatus IncomingFile::write(std::uint64_t offset, std::span<const std::byte> from) {
  UDTCAT_CHECK(destination_.write_budget().charge(from.size(), entry_.path));
  UDTCAT_TRY(const auto reservation, reserve_to(offset + from.size()));
  UDTCAT_CHECK(files::write_whole_at(part_, offset, from, destination_.tree().shown(entry_.path))
                   .map_error(scope_of_content_error));
  unsent_bytes_ += from.size();
  if (unsent_bytes_ < kWriteBehindBytes) return {};
  // The disk begins now, so that the last sync has little to wait for; where it cannot, that sync says so.
  std::ignore = ::sync_file_range(part_.number(), 0, 0, SYNC_FILE_RANGE_WRITE);
  unsent_bytes_ = 0;
  return {};
}

/// Makes a range zero, where the part had bytes when it was opened.
ScopedStatus IncomingFile::clear(std::uint64_t offset, std::uint64_t bytes) {
  if (offset >= part_bytes_ || bytes == 0) return {};
  bytes = std::min(bytes, part_bytes_ - offset);
  if (::fallocate(part_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(bytes)) == 0)
    return {};
  const std::vector<std::byte> zeros(std::min<std::uint64_t>(bytes, kChunkBytes));
  for (std::uint64_t at = 0; at < bytes; at += zeros.size()) {
    UDTCAT_CHECK(destination_.check_not_over(entry_.path));
    UDTCAT_CHECK(write(offset + at, std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), bytes - at))));
  }
  return {};
}

}  // namespace udtcat::trees
