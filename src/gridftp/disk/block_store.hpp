// SPDX-License-Identifier: Apache-2.0
/// A file whose blocks are read and written at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <udtcat/result.hpp>

#include "files/directory_use.hpp"
#include "files/file_location.hpp"
#include "gridftp/disk/partial_file.hpp"
#include "gridftp/disk/restart_journal.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::gridftp {

/// A file opened for one transfer. Every call may wait for the disk: see DiskThreads.
/// Threads: unsynchronised.
class BlockStore {
 public:
  /// A directory, a pipe and a socket cannot be read at offsets.  errors: Errc::local_read_failed
  [[nodiscard]] static Result<BlockStore> open_to_read(const files::FileLocation& location);
  /// Of a descriptor that is open already.  errors: the same
  [[nodiscard]] static Result<BlockStore> of(bridge::Descriptor descriptor, std::string shown);
  /// Bytes go to PATH.part until publish(), or to another name where that is a user's: see open_partial_file(). The
  /// rest of an earlier transfer is kept. A device is written directly.  errors: Errc::local_write_failed;
  /// Errc::out_of_resources while another transfer writes it
  [[nodiscard]] static Result<BlockStore> open_to_write(const files::FileLocation& location);
  /// The file itself is written; it is made where it is not there.  errors: Errc::local_write_failed, also where the
  /// file has other names, whose content would change with it
  [[nodiscard]] static Result<BlockStore> open_in_place(const files::FileLocation& location);

  /// It counts in its directory until it is closed, whatever becomes of its name; its names are changed there.
  void charge_to(const std::shared_ptr<files::DirectoryUse>& use);
  /// As what it counts; null: nobody counts it.
  [[nodiscard]] const files::DirectoryUse::OpenFile* charged_file() const { return use_ ? &charged_file_ : nullptr; }
  /// The bytes that count of a file that was just made, with its journal where it is PATH.part.
  [[nodiscard]] std::uint64_t new_bytes() const;
  /// The file that is written in place was made for that.
  [[nodiscard]] bool is_made() const { return is_made_; }

  [[nodiscard]] const std::string& shown() const { return location_.shown(); }
  /// The file has its own name, and not that of PATH.part.
  [[nodiscard]] bool is_in_place() const { return !publish_as_; }
  /// Bytes in it, where it is a file that has a size.
  [[nodiscard]] std::optional<std::uint64_t> size() const;
  /// The journal of PATH.part; none: there is no PATH.part.  identity   of what is transferred
  [[nodiscard]] std::optional<RestartJournal> journal(std::string identity) const;
  /// The journal of PATH.part holds no more.  errors: those of RestartJournal::begin()
  [[nodiscard]] Status begin_journal() const;
  /// Where PATH.part is, two names in different letters are one.
  [[nodiscard]] bool ignores_case() const { return partial_ && location_.ignores_case(); }
  /// Its size and time are as they were when it was opened.  errors: Errc::local_read_failed
  [[nodiscard]] Status unchanged() const;
  /// The same, and its content has that size, unlike files of /proc.
  /// ended_at   where reading came to its end; none: it has not begun.  errors: Errc::local_read_failed
  [[nodiscard]] Status has_its_size(std::optional<std::uint64_t> ended_at) const;
  /// When it was last changed: nanoseconds since 1970.
  [[nodiscard]] std::int64_t changed() const;
  /// All of `into`, or up to the end of the file.  errors: Errc::local_read_failed
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const;
  /// errors: Errc::local_write_failed
  [[nodiscard]] Status write_at(std::uint64_t offset, std::span<const std::byte> from) const;
  /// The same, for bytes not written before: zeros beyond the file's end at open() stay a hole.
  [[nodiscard]] Status write_first(std::uint64_t offset, std::span<const std::byte> from) const;
  /// It is at least so long: a hole at the end counts too.  errors: Errc::local_write_failed
  [[nodiscard]] Status reach(std::uint64_t bytes) const;
  /// Returns when all written bytes are on the disk.  errors: Errc::local_write_failed
  [[nodiscard]] Status sync() const;
  /// Gets the errors that close(2) would give, as of a full quota, while the file stays open: some file systems report
  /// them only then.  errors: Errc::local_write_failed
  [[nodiscard]] Status flush() const;
  /// Sets the size and syncs: only the rename is left.  errors: Errc::local_write_failed
  [[nodiscard]] Status complete(std::uint64_t bytes) const;
  /// Renames it to its own name, and returns when that is on the disk.  errors: Errc::local_write_failed
  [[nodiscard]] Status put_in_place() const;
  [[nodiscard]] Status publish(std::uint64_t bytes) const;
  void clear();
  /// Removes PATH.part, and a file that was made to be written in place, and is still empty.
  void discard() const;
  /// Releases the lock: the next writer may open it. Errors are those of earlier writes: Errc::local_write_failed.
  [[nodiscard]] Status close();

 private:
  BlockStore(bridge::Descriptor descriptor, files::FileLocation location)
      : descriptor_(std::move(descriptor)),
        opened_size_(size()),
        opened_changed_(changed()),
        location_(std::move(location)) {}

  [[nodiscard]] std::size_t hole_at(std::uint64_t offset, std::span<const std::byte> from) const;

  std::shared_ptr<files::DirectoryUse> use_;
  bridge::Descriptor descriptor_;
  files::DirectoryUse::OpenFile charged_file_;  // descriptor_: ends before it
  std::optional<std::uint64_t> opened_size_;
  std::int64_t opened_changed_;
  files::FileLocation location_;                   // of descriptor_
  std::optional<files::FileLocation> publish_as_;  // none: it has its name already
  std::optional<PartialFile> partial_;             // where publish_as_ is
  bool is_made_ = false;                           // as is_made() has it
  std::shared_ptr<void> turn_;
  std::uint64_t holes_from_ = UINT64_MAX;  // from here on nothing was ever written
};

}  // namespace udtcat::gridftp
