// SPDX-License-Identifier: Apache-2.0
#include "trees/manifest_log.hpp"

#include <algorithm>

#include "lib/core/try.hpp"

namespace udtcat::trees {

Result<ManifestLog> ManifestLog::create(const std::string& path) {
  UDTCAT_TRY(auto writer, ManifestWriter::create(files::FileLocation(path)));
  return ManifestLog(std::move(writer));
}

Status ManifestLog::add(const Entry& entry, const std::optional<files::Digest>& digest) {
  ManifestEntry line{.kind = entry.kind,
                     .path = entry.path,
                     .mode = entry.attributes.mode,
                     .changed = entry.attributes.changed,
                     .size_bytes = entry.size_bytes,
                     .digest = digest.value_or(files::Digest()),
                     .target = entry.target,
                     .major = entry.major,
                     .minor = entry.minor};
  const auto first = std::ranges::lower_bound(linkable_, entry.of, {}, &Linkable::id);
  if (entry.kind == EntryKind::hard_link && first != linkable_.end()) line.target = paths_.path(first->path);
  return writer_.add(line);
}

Status ManifestLog::finish() {
  if (is_spoilt_) return fail(Errc::local_write_failed, "write the manifest", "names in it could not be had after all");
  return writer_.finish();
}

}  // namespace udtcat::trees
