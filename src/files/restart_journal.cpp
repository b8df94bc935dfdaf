// SPDX-License-Identifier: Apache-2.0
#include "files/restart_journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr std::size_t kMaxBytes = 4'194'304;                        // guess: ByteRanges::kMaxRanges of 64 bytes
constexpr const char* kFirstLine = "udtcat restart 1\n";            // spec: docs/spec/gridftp.md §5
constexpr const char* kNextSuffix = ".new";                         // custom: of what takes a journal's place
constexpr const char* kSynced = "synced";                           // custom: in the place of a start's name
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";  // spec: proc(5)

/// Reads in pieces: a large read of a file in /proc/sys gives nothing.
std::string read_all(const bridge::Descriptor& descriptor) {
  std::string text;
  std::array<char, 4'096> piece{};
  while (text.size() < kMaxBytes) {
    const ssize_t got = ::read(descriptor.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// Names this start of the machine.
const std::string& this_boot() {
  static const std::string boot = [] {
    const auto file = FileLocation(kBootId).open(O_RDONLY, Errc::local_read_failed);
    std::string text = file ? read_all(*file) : "";
    std::erase(text, '\n');
    return text.empty() ? std::string(kSynced) : text;
  }();
  return boot;
}

Status write_all(const bridge::Descriptor& descriptor, std::string_view text, const FileLocation& location) {
  while (!text.empty()) {
    const ssize_t put = ::write(descriptor.number(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(Errc::local_write_failed, "write " + location.shown(), core::errno_text(errno));
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

std::string head_of(std::string_view boot, std::string_view identity) {
  return fmt::format("{}boot {}\nof {}\nhave ", kFirstLine, boot, identity);
}

}  // namespace

std::string RestartJournal::to_text(std::string_view boot, std::string_view identity, const ByteRanges& have) {
  return head_of(boot, identity) + have.to_text() + '\n';
}

std::optional<ByteRanges> RestartJournal::parse(std::string_view text, std::string_view boot,
                                                std::string_view identity) {
  const std::string head = head_of(boot, identity);
  if (!text.starts_with(head) || !text.ends_with('\n')) return std::nullopt;
  text.remove_prefix(head.size());
  if (text.empty()) return std::nullopt;
  text.remove_suffix(1);
  auto ranges = ByteRanges::parse(text);
  if (!ranges) return std::nullopt;
  return std::move(*ranges);
}

bool RestartJournal::needs_sync() { return this_boot() == kSynced; }

std::optional<ByteRanges> RestartJournal::load() const {
  const auto file = location_.open(O_RDONLY, Errc::local_read_failed);
  return file ? parse(read_all(*file), this_boot(), identity_) : std::nullopt;
}

bool RestartJournal::is_at(const FileLocation& location) {
  const auto file = location.open(O_RDONLY, Errc::local_read_failed);
  return file && read_all(*file).starts_with(kFirstLine);
}

bool RestartJournal::may_be_at(const FileLocation& location) {
  const auto is_free = [](const FileLocation& place) { return !place.exists() || is_at(place); };
  return is_free(location) && is_free(location.with_suffix(kNextSuffix));
}

Status RestartJournal::save(const ByteRanges& have) const {
  const FileLocation next = location_.with_suffix(kNextSuffix);
  UDTCAT_TRY(auto file, next.open(O_WRONLY | O_CREAT | O_TRUNC, Errc::local_write_failed));
  auto saved = write_all(file, to_text(this_boot(), identity_, have), next);
  if (saved) saved = next.rename_to(location_);
  if (!saved) next.remove();
  return saved;
}

}  // namespace udtcat::files
