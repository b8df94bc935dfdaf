// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/restart_journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMaxBytes = 4'194'304;                        // guess: ByteRanges::kMaxRanges of 64 bytes
constexpr std::size_t kMaxHeadBytes = 65'536;                       // guess: all lines but the last, with long paths
constexpr int kLinesBeforePart = 3;                                 // spec: docs/spec/gridftp.md §5
constexpr const char* kFirstLine = "udtcat restart 1\n";            // spec: docs/spec/gridftp.md §5
constexpr const char* kPart = "part ";                              // spec: the same
constexpr const char* kHave = "have ";                              // spec: the same
constexpr const char* kNextSuffix = ".new";                         // guess: of what takes a journal's place
constexpr const char* kSynced = "synced";                           // guess: in the place of a start's name
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";  // spec: proc(5)

/// Reads in pieces: a large read of a file in /proc/sys gives nothing.
std::string read_all(const bridge::Descriptor& descriptor, std::size_t most_bytes = kMaxBytes) {
  std::string text;
  std::array<char, 4'096> piece{};
  while (text.size() < most_bytes) {
    const ssize_t got = ::read(descriptor.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

const std::string& this_boot() {
  static const std::string boot = [] {
    const auto file = files::FileLocation(kBootId).open(O_RDONLY, Errc::local_read_failed);
    std::string text = file ? read_all(*file) : "";
    std::erase(text, '\n');
    return text.empty() ? std::string(kSynced) : text;
  }();
  return boot;
}

std::string head_of(std::string_view boot, std::string_view identity) {
  return fmt::format("{}boot {}\nof {}\n", kFirstLine, boot, identity);
}

/// The beginning of a regular file without other hard links; else empty.
std::string read_own(const files::FileLocation& location, std::size_t most_bytes) {
  if (!location.is_only_name()) return "";
  const auto file = location.open(O_RDONLY | O_NOFOLLOW, Errc::local_read_failed);
  return file && location.names(*file) ? read_all(*file, most_bytes) : "";
}

/// One without a line, empty or of zeros: a power cut leaves it of a journal that was not on the disk yet.
bool is_blank_at(const files::FileLocation& location) {
  if (!location.is_only_name()) return false;
  const auto size = location.size();
  const std::string text = size && *size <= kMaxBytes ? read_own(location, kMaxBytes) : "";
  return size == text.size() && text.find_first_not_of('\0') == std::string::npos;
}

/// Removes and returns "part 1764155555.000000001" LF at the front of `text`; none: it is not there.
std::optional<std::string> take_part(std::string_view& text) {
  const auto end = text.find('\n');
  if (!text.starts_with(kPart) || end == std::string_view::npos) return std::nullopt;
  const auto begin = std::string_view(kPart).size();
  std::string part(text.substr(begin, end - begin));
  text.remove_prefix(end + 1);
  return part;
}

/// Of two births; seconds have fewer digits before the clock was set.
bool is_no_later(const std::string& one, const std::string& other) {
  const auto seconds_first = [](const std::string& birth) {
    return std::pair(std::min(birth.find('.'), birth.size()), std::string_view(birth));
  };
  return seconds_first(one) <= seconds_first(other);
}

}  // namespace

std::string RestartJournal::to_text(std::string_view boot, std::string_view identity, const files::ByteRanges& have,
                                    std::string_view part) {
  const std::string proof = part.empty() ? "" : fmt::format("{}{}\n", kPart, part);
  return head_of(boot, identity) + proof + kHave + have.to_text() + '\n';
}

std::optional<files::ByteRanges> RestartJournal::parse(std::string_view text, std::string_view boot,
                                                       std::string_view identity) {
  const std::string head = head_of(boot, identity);
  if (!text.starts_with(head) || !text.ends_with('\n')) return std::nullopt;
  text.remove_prefix(head.size());
  std::ignore = take_part(text);  // may be absent
  if (!text.starts_with(kHave)) return std::nullopt;
  text.remove_prefix(std::string_view(kHave).size());
  if (text.empty()) return std::nullopt;
  text.remove_suffix(1);
  auto ranges = files::ByteRanges::parse(text);
  if (!ranges) return std::nullopt;
  return std::move(*ranges);
}

bool RestartJournal::needs_sync() { return this_boot() == kSynced; }

std::optional<files::ByteRanges> RestartJournal::load() const {
  return parse(read_own(location_, kMaxBytes), this_boot(), identity_);
}

bool RestartJournal::is_at(const files::FileLocation& location) {
  return read_own(location, std::string_view(kFirstLine).size()).starts_with(kFirstLine);
}

bool RestartJournal::may_be_at(const files::FileLocation& location) {
  const auto may_be = [](const files::FileLocation& name) {
    return !name.exists() || is_at(name) || is_blank_at(name);
  };
  return may_be(location) && may_be(location.with_suffix(kNextSuffix));
}

bool RestartJournal::proves(const files::FileLocation& location, const std::string& birth) {
  const std::array journals{location, location.with_suffix(kNextSuffix)};
  for (const files::FileLocation& journal : journals) {
    const std::string text = read_own(journal, kMaxHeadBytes);
    if (!text.starts_with(kFirstLine)) continue;
    std::string_view rest = text;
    for (int lines = 0; lines < kLinesBeforePart; ++lines)
      rest.remove_prefix(std::min(rest.size(), std::min(rest.find('\n'), rest.size()) + 1));
    return take_part(rest).value_or(birth) == birth;
  }
  return std::ranges::any_of(journals, [&](const auto& journal) {
    return is_blank_at(journal) && (birth.empty() || is_no_later(birth, journal.birth()));  // else it is a user's
  });
}

/// Writes the temporary file of save().
Status RestartJournal::write_next(const files::ByteRanges& have) const {
  if (!may_be_at(location_))
    return fail(Errc::local_write_failed, "write " + location_.shown(), "somebody else's file is there, or beside it");
  const files::FileLocation next = location_.with_suffix(kNextSuffix);
  remove_in(use_, next);  // may_be_at() has told that it is ours
  UDTCAT_TRY(auto file, next.make_file(O_WRONLY));
  if (!file) return fail(Errc::local_write_failed, "write " + next.shown(), "somebody else has just made it");
  const std::string text = to_text(this_boot(), identity_, have, part_);
  auto written = files::write_whole(*file, std::as_bytes(std::span(text)), next.shown());
  if (const auto error = file->close(); written && error)
    written = fail(Errc::local_write_failed, "write " + next.shown(), core::errno_text(error.value()));
  if (!written) next.remove();
  const auto status = written && use_ ? next.look_at_name() : std::nullopt;
  if (status && *status) use_->charge(files::bytes_of(**status));
  return written;
}

/// The temporary file of begin() may be the only proof: it is kept until another one is written.
Status RestartJournal::keep_proof() const {
  const files::FileLocation next = location_.with_suffix(kNextSuffix);
  return !location_.exists() && is_at(next) ? rename_in(use_, next, location_) : Status();
}

Status RestartJournal::save(const files::ByteRanges& have) const {
  UDTCAT_CHECK(keep_proof());
  UDTCAT_CHECK(write_next(have));
  return rename_in(use_, location_.with_suffix(kNextSuffix), location_);
}

Status RestartJournal::begin() const {
  UDTCAT_CHECK(keep_proof());
  UDTCAT_CHECK(write_next({}));
  remove_at(location_);
  return {};
}

void RestartJournal::remove() const {
  remove_at(location_);
  remove_at(location_.with_suffix(kNextSuffix));
}

void RestartJournal::remove_at(const files::FileLocation& location) const {
  if (is_at(location) || is_blank_at(location)) remove_in(use_, location);
}

std::uint64_t RestartJournal::charged_bytes() const {
  std::uint64_t bytes = 0;
  for (const files::FileLocation& location : {location_, location_.with_suffix(kNextSuffix)})
    if (const auto status = location.look_at_name(); status && *status) bytes += files::bytes_of(**status);
  return bytes;
}

}  // namespace udtcat::gridftp
