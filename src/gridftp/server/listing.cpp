// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/listing.hpp"

#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "gridftp/disk/disk_threads.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

/// False for a name with a line end: a program would read two names.
bool fits_a_line(const FileFacts& facts) { return facts.name.find_first_of("\r\n") == std::string::npos; }

std::string printable_name(std::string name) {
  for (char& each : name)
    if (each == '\r' || each == '\n') each = '?';
  return name;
}

std::string type_of(const FileFacts& facts) {
  switch (facts.kind) {
    case FileFacts::Kind::file:
      return "file";
    case FileFacts::Kind::directory:
      return "dir";
    case FileFacts::Kind::link:
      return "OS.unix=slink:" + (facts.leads_to.find(';') == std::string::npos ? facts.leads_to : std::string());
    case FileFacts::Kind::other:
      break;
  }
  return "OS.unix=other";
}

/// spec: RFC 3659 §7.5.5: e enter, l list, c create, m make directories; r read, w write, d delete, f rename
std::string permissions(const FileFacts& facts, bool read_only) {
  const bool changes = facts.writable && !read_only;
  if (facts.kind == FileFacts::Kind::directory) return changes ? "elcmdf" : "el";
  return changes ? "rwdf" : "r";
}

constexpr std::int64_t kHalfAYear = 15'778'476;  // spec: POSIX, ls: recent; half of 365.2425 days

std::string long_line(const FileFacts& facts, std::int64_t now) {
  std::string mode(1, facts.letter);
  for (unsigned bit = 0400; bit != 0; bit >>= 1) mode += (facts.mode & bit) != 0 ? "rwxrwxrwx"[mode.size() - 1] : '-';
  const std::time_t changed = facts.changed;
  std::tm broken{};
  ::gmtime_r(&changed, &broken);
  const bool recent = changed <= now && now - changed < kHalfAYear;
  const std::string time = recent ? fmt::format("{:%b %d %H:%M}", broken) : fmt::format("{:%b %d  %Y}", broken);
  const std::string link = facts.leads_to.empty() ? "" : " -> " + printable_name(facts.leads_to);
  return fmt::format("{}   1 udtcat   udtcat   {:>12} {} {}{}", mode, facts.size_bytes, time,
                     printable_name(facts.name), link);
}

}  // namespace

std::string time_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm broken{};
  ::gmtime_r(&time, &broken);
  return fmt::format("{:%Y%m%d%H%M%S}", broken);
}

std::string facts_line(const FileFacts& facts, bool read_only) {
  return printable_name(fmt::format("Type={};Size={};Modify={};Perm={};UNIX.mode={:04o}; {}", type_of(facts),
                                    facts.size_bytes, time_text(facts.changed), permissions(facts, read_only),
                                    facts.mode, facts.name));
}

std::size_t with_line_end(std::span<const FileFacts> all, ListingFormat form) {
  if (form == ListingFormat::long_lines) return 0;
  return all.size() - static_cast<std::size_t>(std::ranges::count_if(all, fits_a_line));
}

std::string listing_text(std::span<const FileFacts> all, ListingFormat form, bool read_only, std::int64_t now) {
  std::string text;
  for (const FileFacts& facts : all) {
    if (form != ListingFormat::long_lines && !fits_a_line(facts)) continue;
    switch (form) {
      case ListingFormat::facts:
        text += facts_line(facts, read_only);
        break;
      case ListingFormat::names:
        text += facts.name;
        break;
      case ListingFormat::long_lines:
        text += long_line(facts, now);
        break;
    }
    text += "\r\n";
  }
  return text;
}

Task<Status> ListingSource::fill(std::size_t bytes) {
  while (walk_ && text_.size() < bytes) {
    struct Lines {
      std::string text;
      std::size_t with_line_end;
    };
    const auto read = [this]() -> Result<std::optional<Lines>> {
      UDTCAT_TRY(const auto slice, walk_->next(kSliceEntries));
      if (slice.empty()) return std::nullopt;
      return Lines{listing_text(slice, form_, read_only_, now_), with_line_end(slice, form_)};
    };
    UDTCAT_CO_TRY(const auto lines, co_await on_disk(io_, read));
    missing_.without_status = walk_->without_status();
    missing_.errno_value = walk_->errno_value();
    if (!lines) walk_.reset();
    if (!lines) continue;
    text_ += lines->text;
    missing_.with_line_end += lines->with_line_end;
  }
  co_return Status{};
}

Task<Result<std::optional<files::ByteRange>>> ListingSource::next(std::span<std::byte> into) {
  while (std::exchange(busy_, true)) co_await free_.wait();
  const auto filled = co_await fill(into.size());
  const files::ByteRange block{given_, given_ + std::min(text_.size(), into.size())};
  if (filled) {
    std::ranges::copy(std::as_bytes(std::span(text_)).first(block.bytes()), into.begin());
    text_.erase(0, block.bytes());
    given_ = block.end;
  }
  busy_ = false;
  free_.notify();
  if (!filled) co_return tl::unexpected(filled.error());
  co_return block.bytes() > 0 ? std::optional(block) : std::nullopt;
}

}  // namespace udtcat::gridftp
