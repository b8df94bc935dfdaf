// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/listed_entries.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gridftp/dialogue/command.hpp"
#include "gridftp/dialogue/url.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMaxNameBytes = 255;  // spec: Linux NAME_MAX

tl::unexpected<Error> wrong(std::string_view line, std::string why) {
  return fail(Errc::protocol_violated, "read \"" + core::printable(line, core::kShownBytes) + "\" of a listing",
              std::move(why));
}

/// A link to a directory may lead to one that it is in, and is not followed.
ListedEntry::Kind kind_of(const ListedFacts& facts) {
  const bool says_link = facts.type.starts_with("OS.UNIX=SLINK") || facts.type.starts_with("OS.UNIX=SYMLINK");
  if (says_link || (facts.leads && facts.type == "DIR")) return ListedEntry::Kind::link;
  if (facts.type == "FILE") return ListedEntry::Kind::file;
  return facts.type == "DIR" ? ListedEntry::Kind::directory : ListedEntry::Kind::special;
}

/// None: the line is about the directory itself, or the one above it.
Result<std::optional<ListedEntry>> parse_line(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return wrong(line, "no name is in it");
  const ListedFacts facts = parse_facts(line.substr(0, blank));
  if (facts.type.empty()) return wrong(line, "it does not say the type");
  if (facts.type == "CDIR" || facts.type == "PDIR") return std::nullopt;
  const std::string_view name = line.substr(blank + 1);
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos)
    return wrong(line, "its name is not that of a file in the directory");
  if (name.size() > kMaxNameBytes) return wrong(line, "its name is longer than 255 bytes, the most that Linux has");
  if (name.find('\0') != std::string_view::npos) return wrong(line, "its name has a zero byte, which no file's has");
  return ListedEntry{std::string(name), can_be_said(name) ? kind_of(facts) : ListedEntry::Kind::unsayable};
}

constexpr std::string_view kWithout = "Listing complete, without ";

}  // namespace

ListedFacts parse_facts(std::string_view text) {
  constexpr std::string_view kType = "TYPE=";
  constexpr std::string_view kSize = "SIZE=";
  ListedFacts facts;
  while (!text.empty()) {
    const auto end = text.find(';');
    const std::string fact = to_upper(std::string(text.substr(0, end)));
    if (fact.starts_with(kType)) facts.type = fact.substr(kType.size());
    if (fact.starts_with(kSize)) facts.bytes = core::parse_number<std::uint64_t>(fact.substr(kSize.size()));
    if (fact.starts_with("UNIX.SLINK=")) facts.leads = true;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return facts;
}

std::string end_of_listing(const MissingNames& missing) {
  if (missing.count() == 0) return "Listing complete.";
  std::string why;
  if (missing.with_line_end > 0) why = fmt::format("{} with a line end, which FTP cannot carry", missing.with_line_end);
  if (missing.without_status > 0)
    why += fmt::format("{}{} that cannot be looked at (the last: {})", why.empty() ? "" : ", ", missing.without_status,
                       core::errno_text(missing.errno_value));
  return fmt::format("{}{}: {}.", kWithout, core::format_count(missing.count(), "name"), why);
}

std::size_t missing_names_in(std::string_view end_of_listing) {
  if (!end_of_listing.starts_with(kWithout)) return 0;
  end_of_listing.remove_prefix(kWithout.size());
  return core::parse_number<std::size_t>(end_of_listing.substr(0, end_of_listing.find(' '))).value_or(0);
}

Result<std::vector<ListedEntry>> parse_listing(std::string_view text) {
  std::vector<ListedEntry> entries;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return wrong(text, "it breaks off within a line");
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    UDTCAT_TRY(auto entry, parse_line(line));
    if (entry) entries.push_back(std::move(*entry));
    text.remove_prefix(end + 1);
  }
  std::ranges::sort(entries, {}, &ListedEntry::name);
  const auto twice = std::ranges::adjacent_find(entries, {}, &ListedEntry::name);
  if (twice != entries.end()) return wrong(twice->name, "the name appears twice");
  return entries;
}

}  // namespace udtcat::gridftp
