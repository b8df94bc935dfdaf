// SPDX-License-Identifier: Apache-2.0
/// Makes entries of the names of a source.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "trees/disk/attributes.hpp"
#include "trees/disk/file_identity.hpp"
#include "trees/message.hpp"
#include "trees/source.hpp"

namespace udtcat::trees {

/// An entry tells of one moment: a name that changes while it is looked at is looked at again.
/// Every call waits for the disk.
/// Threads: unsynchronised.
class EntryReader {
 public:
  /// `source` outlives this.
  explicit EntryReader(Source& source) : source_(source) {}

  /// item   gets the status of that moment.  returns  none: a socket
  /// errors: Errc::local_read_failed
  [[nodiscard]] NameResult<std::optional<Entry>> read(SourceItem& item);
  /// Whether the file of `source_name` still has this status and these attributes.
  [[nodiscard]] bool still_has(const SourceName& source_name, const struct stat& status, const Attributes& attributes);

  /// A file with several names was announced: later ones are hard links to this entry, while it is unchanged.
  /// errors: Errc::local_read_failed
  [[nodiscard]] NameStatus remember(const SourceItem& item, EntryId id);
  /// The entry was dropped: no later name is a hard link to it.
  void forget(const struct stat& status, EntryId id);

 private:
  struct FirstName {
    EntryId id = 0;
    SourceName source_name;
    FileIdentity identity;
  };

  [[nodiscard]] Result<Entry> read_once(const SourceItem& item);
  [[nodiscard]] Status as_file(const SourceItem& item, Entry& entry);
  [[nodiscard]] Result<std::optional<EntryId>> first_name_of(const SourceItem& item);

  Source& source_;
  std::map<std::pair<dev_t, ino_t>, FirstName> first_names_;
};

}  // namespace udtcat::trees
