// SPDX-License-Identifier: Apache-2.0
/// FILE.part, a file that is not complete; FILE.part~2 and so on, where that name is a user's.
/// spec: docs/spec/gridftp.md §5
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "gridftp/disk/restart_journal.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::gridftp {

/// A partial file and its journal, which shows that it is ours. Every call may wait for the disk: see DiskThreads.
/// Threads: immutable.
struct PartialFile {
  files::FileLocation part;
  files::FileLocation journal;
  std::shared_ptr<files::DirectoryUse> use{};  ///< counts what is written; null: nobody does

  /// identity   of what is transferred
  [[nodiscard]] RestartJournal journal_of(std::string identity) const {
    return {journal, std::move(identity), part.birth(), use};
  }
};

/// The partial file of an earlier transfer of `file`; none: there is none with a journal.
[[nodiscard]] std::optional<PartialFile> find_partial_file(const files::FileLocation& file);

/// To be written by one transfer at a time.
struct OpenPartialFile {
  PartialFile names;
  bridge::Descriptor descriptor;
  std::shared_ptr<void> turn;  ///< as long as it lives, nobody else of this process has the file
};

/// The rest of an earlier transfer, or a new file under a name that is free.
/// errors: Errc::local_write_failed; Errc::out_of_resources while another transfer writes it
[[nodiscard]] Result<OpenPartialFile> open_partial_file(const files::FileLocation& file);

/// "a directory", "a symbolic link": what is not a file, for messages.
[[nodiscard]] const char* kind_in_words(mode_t mode);

}  // namespace udtcat::gridftp
