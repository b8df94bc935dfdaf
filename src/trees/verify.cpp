// SPDX-License-Identifier: Apache-2.0
#include "trees/verify.hpp"

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <vector>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/attributes.hpp"
#include "trees/disk/chunk_reader.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/disk/tree_hash.hpp"

namespace udtcat::trees {

namespace {

const char* kind_name_of(mode_t mode) {
  const KindFacts* const facts = facts_of(mode);
  return facts == nullptr ? "a socket" : facts->name;
}

/// A manifest may have a time beyond all years.
std::string time_text(const FileTime& time) {
  const std::time_t seconds = time.seconds;
  std::tm date{};
  const bool is_date = ::gmtime_r(&seconds, &date) != nullptr;
  std::string text = is_date ? fmt::format("{:%F %T}", date) : fmt::to_string(time.seconds);
  if (time.nanoseconds != 0 || !is_date) text += fmt::format(".{:09}", time.nanoseconds);
  return is_date ? text + " UTC" : text;
}

class TreeVerifier {
 public:
  TreeVerifier(const files::FileTree& tree, const VerifyHandlers& handlers)
      : shown_(tree.shown(".")), handlers_(handlers), cursor_(tree), others_(tree) {}

  [[nodiscard]] Result<Verification> run(ManifestReader& manifest) {
    for (;;) {
      UDTCAT_TRY(const auto entry, manifest.next());
      if (!entry) return done_;
      UDTCAT_CHECK(go_on());
      differs_ = false;
      UDTCAT_CHECK(compare(*entry));
      ++done_.entries;
      if (differs_) ++done_.differing;
    }
  }

 private:
  [[nodiscard]] Status go_on() const {
    if (handlers_.should_stop()) return fail(Errc::interrupted, "verify " + shown_);
    return {};
  }
  void report(const ManifestEntry& entry, const std::string& text) {
    differs_ = true;
    handlers_.on_difference(entry.path, text);
  }

  [[nodiscard]] Status compare(const ManifestEntry& entry) {
    const auto location = cursor_.locate(entry.path, Errc::local_read_failed);
    const auto status = location ? location->look() : tl::unexpected(location.error());
    const bool is_missing = status ? !*status : status.error().errno_value == ENOENT;
    if (is_missing) {
      report(entry, "it is missing");
    } else if (!status) {
      report(entry, "it cannot be looked at: " + status.error().cause);
    } else if (const auto format = format_of(entry.kind); format && *format != ((*status)->st_mode & S_IFMT)) {
      report(entry, fmt::format("it is {}, not {}", kind_name_of((*status)->st_mode), kind_name_of(*format)));
    } else {
      compare_attributes(entry, **status);
      return compare_content(entry, *location, **status);
    }
    return {};
  }

  void compare_attributes(const ManifestEntry& entry, const struct stat& status) {
    if (entry.kind == EntryKind::hard_link) return;
    const auto mode = status.st_mode & kModeBits;
    if (entry.kind != EntryKind::symbolic_link && mode != entry.mode)
      report(entry, fmt::format("its mode is {:04o}, not {:04o}", mode, entry.mode));
    const auto changed = changed_time_of(status);
    if (changed != entry.changed)
      report(entry, fmt::format("its time is {}, not {}", time_text(changed), time_text(entry.changed)));
  }

  [[nodiscard]] Status compare_content(const ManifestEntry& entry, const files::FileLocation& location,
                                       const struct stat& status) {
    switch (entry.kind) {
      case EntryKind::file:
        return compare_file(entry, location, status);
      case EntryKind::symbolic_link:
        compare_target(entry, location);
        break;
      case EntryKind::hard_link:
        compare_identity(entry, status);
        break;
      case EntryKind::character_device:
      case EntryKind::block_device:
        compare_device(entry, status);
        break;
      case EntryKind::directory:
      case EntryKind::fifo:
        break;
    }
    return {};
  }

  void compare_target(const ManifestEntry& entry, const files::FileLocation& location) {
    const auto target = location.read_target();
    if (!target) {
      report(entry, "its target cannot be read: " + target.error().cause);
    } else if (*target != entry.target) {
      report(entry, fmt::format("it leads to {}, not to {}", *target, entry.target));
    }
  }

  void compare_identity(const ManifestEntry& entry, const struct stat& status) {
    const auto other = others_.locate(entry.target, Errc::local_read_failed);
    const auto other_status = other ? other->look() : tl::unexpected(other.error());
    const bool is_same = other_status && *other_status && is_same_file(**other_status, status);
    if (!is_same) report(entry, "it is not the same file as " + entry.target);
  }

  void compare_device(const ManifestEntry& entry, const struct stat& status) {
    const auto major_number = major(status.st_rdev);
    const auto minor_number = minor(status.st_rdev);
    if (major_number != entry.major || minor_number != entry.minor)
      report(entry,
             fmt::format("its device is {}:{}, not {}:{}", major_number, minor_number, entry.major, entry.minor));
  }

  [[nodiscard]] Status compare_file(const ManifestEntry& entry, const files::FileLocation& location,
                                    const struct stat& status) {
    const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
    if (size_bytes != entry.size_bytes) {
      report(entry, fmt::format("its size is {} bytes, not {}", size_bytes, entry.size_bytes));
      return {};
    }
    const auto file = location.open(O_RDONLY, Errc::local_read_failed);
    struct stat opened {};
    if (!file) {
      report(entry, "it cannot be read: " + file.error().cause);
    } else if (::fstat(file->number(), &opened) != 0 || !is_same_file(opened, status)) {
      report(entry, "it has been replaced meanwhile");
    } else {
      return compare_chunks(entry, *file);
    }
    return {};
  }

  [[nodiscard]] Status compare_chunks(const ManifestEntry& entry, const bridge::Descriptor& file) {
    TreeHash hash;
    ChunkReader reader(file, entry.size_bytes, chunk_memory_, entry.path);
    handlers_.on_progress(entry.path, done_);
    for (;;) {
      UDTCAT_CHECK(go_on());
      const auto chunk = reader.next();
      if (!chunk) {
        report(entry, "it cannot be read: " + chunk.error().cause);
        return {};
      }
      if (!*chunk) break;
      hash.add(hash_of(**chunk));
      done_.bytes += (*chunk)->bytes;
      handlers_.on_progress(entry.path, done_);
    }
    if (hash.root() != entry.digest) report(entry, "its content has changed");
    return {};
  }

  const std::string shown_;
  const VerifyHandlers& handlers_;
  files::TreeCursor cursor_;
  files::TreeCursor others_;  // of the files of hard links
  std::vector<std::byte> chunk_memory_;
  Verification done_;
  bool differs_ = false;  // the entry that is compared
};

}  // namespace

Result<Verification> verify(ManifestReader& manifest, const files::FileTree& tree, const VerifyHandlers& handlers) {
  return TreeVerifier(tree, handlers).run(manifest);
}

}  // namespace udtcat::trees
