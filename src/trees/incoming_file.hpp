// SPDX-License-Identifier: Apache-2.0
/// A file while its contents come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"
#include "trees/basis_file.hpp"
#include "trees/destination.hpp"
#include "trees/disk/tree_hash.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// The chunks come in order; each is compared with its hash before it is written, unless the session is sealed.
///
///   nothing open ──chunks, no basis──► a new part ──────────────────────────────► whole, a part
///        │  └─────chunks, the basis is a part──► that part, chunk by chunk ───────► whole, a part
///        └──only COPY, the basis has the name: nothing is written ──────────────► whole, has its name
///                 └──a chunk that differs──► a new part, with those so far ──────────► whole, a part
///
/// Errors, of the transfer: Errc::protocol_violated where the sender breaks the order, or a hash is wrong;
/// Errc::stream_refused; Errc::connection_broken: it is over; Errc::local_write_failed where the next file could not
/// be written, either: the disk is full.
/// Of this file: Errc::local_read_failed and Errc::local_write_failed: somebody else is writing it, it is too large.
/// Threads: unsynchronised. Every call may wait for the disk.
class IncomingFile {
 public:
  /// `destination` outlives this.
  /// basis   none: there is nothing of it
  /// is_sealed   the session proves every byte, so chunks are not compared with their hashes
  IncomingFile(Destination& destination, Entry entry, std::optional<BasisFile> basis, bool is_sealed)
      : destination_(destination), entry_(std::move(entry)), is_sealed_(is_sealed), basis_(std::move(basis)) {}

  [[nodiscard]] const Entry& entry() const { return entry_; }
  [[nodiscard]] ScopedStatus take(const Data& data);
  [[nodiscard]] ScopedStatus take(const Zeros& zeros);
  [[nodiscard]] ScopedStatus take(const CopyChunks& copy);
  /// The file is complete: as a part with its attributes, or as the file that has the name.
  [[nodiscard]] ScopedStatus take(const FileDone& done);
  /// Of a complete file.
  struct State {
    bool has_name = false;      ///< else it is a part
    bool needs_fsync = false;   ///< syncfs(2) stores it without telling of errors; fsync(2) tells, and waits no more
    bool may_be_cached = true;  ///< its times tell of each change since its content was compared
    struct stat status {};
  };
  [[nodiscard]] const State& state() const { return state_; }

 private:
  [[nodiscard]] files::Digest hash_of(const Data& data, std::uint64_t bytes);
  [[nodiscard]] ScopedStatus expect(std::uint64_t chunk, std::uint64_t count) const;
  [[nodiscard]] NameStatus take_up_basis();
  [[nodiscard]] ScopedStatus open_part();
  [[nodiscard]] NameStatus finish_part();
  [[nodiscard]] ScopedResult<bool> is_still_equal();
  [[nodiscard]] ScopedResult<bool> keep_existing();
  [[nodiscard]] ScopedStatus copy_chunk(std::uint64_t chunk);
  [[nodiscard]] ScopedStatus write(std::uint64_t offset, std::span<const std::byte> from);
  [[nodiscard]] ScopedResult<files::DirectoryUse::Reservation> reserve_to(std::uint64_t bytes);
  [[nodiscard]] ScopedStatus clear(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] Error failed(const char* doing) const;

  Destination& destination_;
  const Entry entry_;
  const bool is_sealed_;
  std::optional<BasisFile> basis_;
  bridge::Descriptor existing_;                     // the basis that has the name; not open: not needed yet
  files::DirectoryUse::OpenFile charged_existing_;  // ends before that
  bridge::Descriptor part_;                         // not open: nothing has been written yet
  files::DirectoryUse::OpenFile charged_part_;      // ends before that
  std::uint64_t part_bytes_ = 0;                    // that were there when it was opened
  std::uint64_t reserved_bytes_ = 0;                // its size, as the directory's limit counts it
  std::uint64_t unsent_bytes_ = 0;                  // written, and not given to the disk yet
  std::uint64_t next_chunk_ = 0;
  std::uint64_t copied_so_far_ = 0;  // chunks that are to be copied once there is a part
  TreeHash tree_;
  std::vector<std::byte> memory_;  // of a chunk
  bool shares_blocks_ = false;     // the part began as a clone of what has the name
  State state_;
};

}  // namespace udtcat::trees
