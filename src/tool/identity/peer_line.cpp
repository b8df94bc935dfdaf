// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peer_line.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <udtcat/options.hpp>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/applications.hpp"
#include "tool/cli/suggestion.hpp"

namespace udtcat::tool {

namespace {

// The XIO driver has shared keys only; data connections of GridFTP belong to gridftp. No listener of ours is for rsh,
// but lists that were written for one name it.
constexpr std::array<std::string_view, 8> kPurposes{kPipe, kForward, kRsh, kGridftp, kGateway, kBench, kTrees, kMeet};

constexpr const char* kForm =
    "NAME PUBLIC-KEY [PURPOSE,...] [to=NAME,...] [into=DIR] [limit=SIZE] [rate=RATE] "
    "[valid-after=DATE] [valid-before=DATE]";

tl::unexpected<Error> wrong_word(std::string cause) { return fail(Errc::bad_argument, "", std::move(cause)); }

std::string shown(std::string_view word) { return "\"" + core::printable(word, core::kShownBytes) + "\""; }

std::string all_purposes() { return fmt::format("{}", fmt::join(kPurposes, ", ")); }

// ---- The words behind a key ----------------------------------------------------------------------------------------

Result<std::vector<std::string>> purposes_of(std::string_view word) {
  std::vector<std::string> purposes;
  for (const std::string_view name : words_of(word, ",")) {
    if (std::ranges::find(kPurposes, name) == kPurposes.end())
      return wrong_word(shown(name) + " is no purpose; what a key may be for: " + all_purposes() +
                        ", with commas and without blanks; to=NAME,... may follow");
    if (std::ranges::find(purposes, name) != purposes.end()) return wrong_word(shown(name) + " is given twice");
    purposes.emplace_back(name);
  }
  if (purposes.empty()) return wrong_word("no purpose between the commas; what a key may be for: " + all_purposes());
  return purposes;
}

Status take_services(Peer& peer, std::string_view value) {
  for (const std::string_view name : words_of(value, ",")) peer.services.emplace_back(name);
  if (peer.services.empty()) return wrong_word("to= needs the names of services, as in to=db,web");
  return {};
}

/// No component of it begins with a dot: so it leads nowhere else, and is no directory of parts.
Status take_directory(Peer& peer, std::string_view value) {
  const bool is_printable = core::printable(value, value.size()) == value;
  const bool is_empty = value.empty() || value.front() == '/' || value.back() == '/';
  if (!is_printable || is_empty || value.front() == '.' || value.find("//") != std::string_view::npos ||
      value.find("/.") != std::string_view::npos)
    return wrong_word(
        fmt::format("into={} is no directory below the listener's: expected a relative path, as in into=alice or "
                    "into=teams/alice, no component of which begins with a dot",
                    core::printable(value, core::kShownBytes)));
  peer.directory = value;
  return {};
}

Status take_limit(Peer& peer, std::string_view value) {
  const auto bytes = core::parse_size(value);
  if (!bytes || *bytes == 0)
    return wrong_word(fmt::format("limit={} is no size above 0: expected bytes, as in limit=2TB or limit=500GiB",
                                  core::printable(value, core::kShownBytes)));
  peer.limit_bytes = *bytes;
  return {};
}

Status take_rate(Peer& peer, std::string_view value) {
  const auto rate = core::parse_rate(value);
  if (!rate || rate->unlimited())
    return wrong_word(
        fmt::format("rate={} is no rate above 0: expected bits per second, with k, M or G, as in rate=400M",
                    core::printable(value, core::kShownBytes)));
  peer.rate = *rate;
  return {};
}

Result<SystemTime> date_of(const char* word, std::string_view value) {
  const auto date = parse_date(value);
  if (date) return *date;
  return wrong_word(
      fmt::format("{}={} is no date: expected one in UTC, as in {}=2026-12-01, {}=2026-12-01T06:00 or {}=20261201Z",
                  word, core::printable(value, core::kShownBytes), word, word, word));
}

Status take_valid_after(Peer& peer, std::string_view value) {
  UDTCAT_TRY(peer.valid_after, date_of("valid-after", value));
  return {};
}

Status take_valid_before(Peer& peer, std::string_view value) {
  UDTCAT_TRY(peer.valid_before, date_of("valid-before", value));
  return {};
}

struct NamedWord {
  std::string_view name;
  Status (*take)(Peer& peer, std::string_view value);
};
constexpr std::array<NamedWord, 6> kNamedWords{{{"to", take_services},
                                                {"into", take_directory},
                                                {"limit", take_limit},
                                                {"rate", take_rate},
                                                {"valid-after", take_valid_after},
                                                {"valid-before", take_valid_before}}};

Status take_named_word(Peer& peer, std::string_view word, std::vector<std::string_view>& seen) {
  const std::string_view name = word.substr(0, word.find('='));
  const auto found = std::ranges::find(kNamedWords, name, &NamedWord::name);
  if (found == kNamedWords.end()) {
    std::vector<std::string> names;
    names.reserve(kNamedWords.size());
    for (const NamedWord& each : kNamedWords) names.push_back(fmt::format("{}=", each.name));
    return wrong_word(fmt::format("{} is unknown{}; expected: {}", shown(word),
                                  did_you_mean(fmt::format("{}=", name), names), kForm));
  }
  if (std::ranges::find(seen, name) != seen.end()) return wrong_word(fmt::format("{}= is given twice", name));
  seen.push_back(name);
  return found->take(peer, word.substr(name.size() + 1));
}

bool is_assignment(std::string_view word) { return word.find('=') != std::string_view::npos; }

Status take_words(Peer& peer, std::span<const std::string_view> words) {
  std::vector<std::string_view> seen;
  for (const std::string_view word : words) {
    if (is_assignment(word)) {
      UDTCAT_CHECK(take_named_word(peer, word, seen));
      continue;
    }
    if (!peer.purposes.empty())
      return wrong_word(shown(word) + " was not expected: purposes are one word, with commas and without blanks");
    UDTCAT_TRY(peer.purposes, purposes_of(word));
  }
  if (peer.limit_bytes && peer.directory.empty())
    return wrong_word("limit= needs into=DIR: it is of what is in that directory");
  if (peer.valid_after && peer.valid_before && *peer.valid_after >= *peer.valid_before)
    return wrong_word(fmt::format("the key is never valid: valid-after={} is not before valid-before={}",
                                  date_text(*peer.valid_after), date_text(*peer.valid_before)));
  return {};
}

// ---- Name and key --------------------------------------------------------------------------------------------------

/// The comment of a key's file, as somebody@somewhere; empty: none stands there.
std::string_view take_comment(std::span<const std::string_view>& words) {
  if (words.empty()) return {};
  const std::string_view comment = words.front();
  const auto at = comment.find('@');
  if (at == std::string_view::npos || comment.find('=') < at) return {};
  words = words.subspan(1);
  return comment;
}

/// The key takes one word, or two.
Result<PublicKey> take_key(std::span<const std::string_view>& words) {
  const bool pasted = words.front() == PublicKey::kPrefix && words.size() > 1;
  UDTCAT_TRY(const PublicKey key,
             PublicKey::parse(pasted ? fmt::format("{} {}", words[0], words[1]) : std::string(words.front())));
  words = words.subspan(pasted ? 2 : 1);
  return key;
}

/// NAME and key; or the line of keygen alone, whose comment is then the name, as people do it with authorized_keys.
Result<Peer> named_key(std::span<const std::string_view>& words) {
  std::string_view name = words.front();
  const bool is_named = name != PublicKey::kPrefix && !PublicKey::parse(name);
  if (is_named && !is_end_name(name))
    return wrong_word(fmt::format("a name has 1 to {} printable characters of ASCII", kMaxEndNameBytes));
  if (is_named && words.size() < 2)
    return wrong_word(fmt::format("expected: {}; the purposes: {}", kForm, all_purposes()));
  if (is_named) words = words.subspan(1);
  UDTCAT_TRY(const PublicKey key, take_key(words));
  const std::string_view comment = take_comment(words);
  if (!is_named) name = comment;
  if (!is_end_name(name))
    return wrong_word(fmt::format("the NAME of the peer is missing in front of its key: NAME {}", key.to_string()));
  return Peer{.name = std::string(name), .key = key, .is_named = is_named};
}

// ---- Dates ---------------------------------------------------------------------------------------------------------

constexpr std::size_t kDateBytes = 10;  // spec: ISO 8601: 2026-12-01

/// A number of exactly so many digits.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  const std::string_view part = text.substr(std::min(at, text.size()), count);
  const bool all_digits =
      part.size() == count && std::ranges::all_of(part, [](char each) { return each >= '0' && each <= '9'; });
  return all_digits ? core::parse_number<int>(part) : std::nullopt;
}

std::optional<std::chrono::sys_days> day_of(std::string_view text) {
  constexpr int kMinYear = 1970;  // guess: dates of keys
  constexpr int kMaxYear = 2200;  // spec: system_clock counts nanoseconds to 2262
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *year < kMinYear || *year > kMaxYear) return std::nullopt;
  return std::chrono::sys_days(date);
}

/// "06:00", "06:00:00".
std::optional<std::chrono::seconds> time_of_day(std::string_view text) {
  const auto hour = digits(text, 0, 2);
  const auto minute = digits(text, 3, 2);
  const bool has_seconds = text.size() > 5;
  const auto second = has_seconds ? digits(text, 6, 2) : 0;
  if (!hour || !minute || !second || text[2] != ':' || (has_seconds && (text.size() != 8 || text[5] != ':')))
    return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

/// "20261201Z", "202612010600Z", "20261201060000Z" as the other notation has it.
std::optional<std::string> with_separators(std::string_view text) {
  constexpr std::array<std::size_t, 3> kLengths{9, 13, 15};  // spec: ssh-keygen(1), ALLOWED SIGNERS: in UTC with a Z
  const bool has_length = std::ranges::find(kLengths, text.size()) != kLengths.end();
  if (!has_length || !text.ends_with('Z') || !digits(text, 0, 8)) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t count) { return text.substr(at, count); };
  std::string date = fmt::format("{}-{}-{}", part(0, 4), part(4, 2), part(6, 2));
  if (text.size() > 9) date += fmt::format("T{}:{}", part(8, 2), part(10, 2));
  if (text.size() > 13) date += fmt::format(":{}", part(12, 2));
  return date;
}

template <typename Word>
bool has_same(std::vector<Word> one, std::vector<Word> other) {
  std::ranges::sort(one);
  std::ranges::sort(other);
  return one == other;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view line, std::string_view separators) {
  std::vector<std::string_view> words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    if (line.empty() || line.starts_with('#')) return words;
    words.push_back(line.substr(0, line.find_first_of(separators)));
    line.remove_prefix(words.back().size());
  }
}

std::optional<SystemTime> parse_date(std::string_view text) {
  if (const auto separated = with_separators(text)) return parse_date(*separated);
  const auto day = text.size() >= kDateBytes ? day_of(text.substr(0, kDateBytes)) : std::nullopt;
  if (!day) return std::nullopt;
  if (text.size() == kDateBytes) return SystemTime(*day);
  if (text[kDateBytes] != 'T') return std::nullopt;
  if (text.ends_with('Z')) text.remove_suffix(1);
  const auto time = time_of_day(text.substr(kDateBytes + 1));
  if (!time) return std::nullopt;
  return SystemTime(*day) + *time;
}

std::string date_text(SystemTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  if (clock.to_duration() == std::chrono::seconds(0)) return text;
  return text +
         fmt::format("T{:02}:{:02}:{:02}Z", clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

bool may(const Peer& peer, std::string_view application) {
  if (application == kDriver) application = kGridftp;
  return peer.purposes.empty() || std::ranges::find(peer.purposes, application) != peer.purposes.end();
}

std::string purposes_text(const Peer& peer) {
  if (peer.purposes.empty()) return "everything";
  return fmt::format("{}", fmt::join(peer.purposes, ","));
}

bool is_valid_at(const Peer& peer, SystemTime time) {
  return !(peer.valid_after && time < *peer.valid_after) && !(peer.valid_before && time >= *peer.valid_before);
}

std::string dates_text(const Peer& peer, SystemTime time) {
  if (peer.valid_after && time < *peer.valid_after) return "is valid from " + date_text(*peer.valid_after);
  return "was valid until " + date_text(peer.valid_before.value_or(time));
}

bool is_alike(const Peer& one, const Peer& other) {
  return has_same(one.purposes, other.purposes) && has_same(one.services, other.services) &&
         one.directory == other.directory && one.limit_bytes == other.limit_bytes && one.rate == other.rate;
}

Result<Peer> parse_peer_line(std::span<const std::string_view> words) {
  UDTCAT_TRY(Peer peer, named_key(words));
  UDTCAT_CHECK(take_words(peer, words));
  return peer;
}

}  // namespace udtcat::tool
