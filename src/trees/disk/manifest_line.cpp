// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/manifest_line.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "trees/disk/entry_path.hpp"

namespace udtcat::trees {

namespace {

// spec: docs/spec/manifest.md, all of these
constexpr std::size_t kModeDigits = 4;
constexpr std::uint32_t kMaxNanoseconds = 999'999'999;
constexpr std::size_t kNanosecondDigits = 9;
constexpr std::uint64_t kMaxSizeBytes = INT64_MAX;
constexpr std::size_t kEscapeDigits = 3;
constexpr const char* kEndWord = "end";

bool is_link(EntryKind kind) { return kind == EntryKind::symbolic_link || kind == EntryKind::hard_link; }

bool stands_for_itself(char letter) { return letter > ' ' && letter <= '~' && letter != '\\'; }

tl::unexpected<Error> wrong(std::string cause) { return fail(Errc::local_read_failed, "", std::move(cause)); }

/// A number in its shortest form.
template <typename Number>
std::optional<Number> parse_shortest(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.starts_with('0') && text != "0") return std::nullopt;
  return core::parse_number<Number>(text);
}

std::optional<std::uint32_t> parse_digits(std::string_view text, std::size_t digits, int base) {
  const bool are_digits = std::ranges::all_of(text, [&](char letter) { return letter >= '0' && letter < '0' + base; });
  if (text.size() != digits || !are_digits) return std::nullopt;
  return core::parse_number<std::uint32_t>(text, base);
}

/// Takes the fields of a line one by one.
class LineFields {
 public:
  explicit LineFields(std::string_view line) : rest_(line) {}

  /// `name` says in an error which field it is.
  [[nodiscard]] Result<std::string_view> take(const char* name) {
    if (!rest_) return wrong(fmt::format("its {} is missing", name));
    const auto space = rest_->find(' ');
    const auto field = rest_->substr(0, space);
    if (space == std::string_view::npos) {
      rest_.reset();
    } else {
      rest_->remove_prefix(space + 1);
    }
    return field;
  }
  template <typename Number>
  [[nodiscard]] Result<Number> take_number(const char* name, Number max) {
    UDTCAT_TRY(const auto field, take(name));
    const auto number = parse_shortest<Number>(field);
    if (!number || *number > max) return wrong(fmt::format("its {} is no number up to {}", name, max));
    return *number;
  }
  [[nodiscard]] Result<std::uint32_t> take_mode() {
    UDTCAT_TRY(const auto field, take("mode"));
    const auto mode = parse_digits(field, kModeDigits, 8);
    if (!mode) return wrong("its mode is not of four octal digits");
    return *mode;
  }
  [[nodiscard]] Result<FileTime> take_time() {
    UDTCAT_TRY(const auto field, take("time"));
    const auto point = field.find('.');
    const auto seconds = parse_shortest<std::int64_t>(field.substr(0, point));
    const auto nanoseconds =
        point == std::string_view::npos ? std::nullopt : parse_digits(field.substr(point + 1), kNanosecondDigits, 10);
    if (!seconds || !nanoseconds) return wrong("its time is not of seconds, a point and nine digits");
    return FileTime{*seconds, *nanoseconds};
  }
  [[nodiscard]] Result<files::Digest> take_digest() {
    UDTCAT_TRY(const auto field, take("hash"));
    files::Digest digest{};
    for (std::size_t i = 0; i < digest.size() && field.size() == 2 * digest.size(); ++i)
      digest[i] = static_cast<std::byte>(core::parse_number<std::uint8_t>(field.substr(2 * i, 2), 16).value_or(0));
    if (files::to_hex(digest) != field) return wrong("its hash is not of 64 digits, 0 to 9 and a to f");
    return digest;
  }
  [[nodiscard]] Result<std::string> take_name(const char* name) {
    UDTCAT_TRY(auto field, take(name));
    std::string bytes;
    while (!field.empty()) {
      if (stands_for_itself(field.front())) {
        bytes += field.front();
        field.remove_prefix(1);
        continue;
      }
      const auto byte = parse_digits(field.substr(1, kEscapeDigits), kEscapeDigits, 8);
      if (field.front() != '\\' || !byte || *byte > UINT8_MAX || stands_for_itself(static_cast<char>(*byte)))
        return wrong(fmt::format("its {} has a byte that is not written as it has to be", name));
      bytes += static_cast<char>(*byte);
      field.remove_prefix(1 + kEscapeDigits);
    }
    return bytes;
  }
  [[nodiscard]] Result<std::string> take_path(const char* name) {
    UDTCAT_TRY(auto path, take_name(name));
    if (!is_entry_path(path)) return wrong(fmt::format("its {} may not stand in a tree", name));
    return path;
  }
  [[nodiscard]] Status end() const {
    if (rest_) return wrong("more follows than belongs to it");
    return {};
  }

 private:
  std::optional<std::string_view> rest_;  // none: the last field was taken
};

Result<EntryKind> take_device_kind(LineFields& fields) {
  UDTCAT_TRY(const auto letter, fields.take("kind of device"));
  if (letter == "c") return EntryKind::character_device;
  if (letter == "b") return EntryKind::block_device;
  return wrong("its kind of device is neither c nor b");
}

/// The fields before the path that only some kinds have.
Status take_own_fields(LineFields& fields, ManifestEntry& entry) {
  if (entry.kind == EntryKind::file) {
    UDTCAT_TRY(entry.size_bytes, fields.take_number<std::uint64_t>("size", kMaxSizeBytes));
    UDTCAT_TRY(entry.digest, fields.take_digest());
  } else if (is_device(entry.kind)) {
    UDTCAT_TRY(entry.kind, take_device_kind(fields));
    UDTCAT_TRY(entry.major, fields.take_number<std::uint32_t>("major number", UINT32_MAX));
    UDTCAT_TRY(entry.minor, fields.take_number<std::uint32_t>("minor number", UINT32_MAX));
  }
  return {};
}

}  // namespace

std::string spelled_out(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    if (stands_for_itself(letter)) {
      text += letter;
    } else {
      text += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(letter)));
    }
  }
  return text;
}

std::string encode_line(const ManifestEntry& entry) {
  std::string line(facts_of(entry.kind).manifest_word);
  if (!is_link(entry.kind)) line += fmt::format(" {:04o}", entry.mode);
  if (entry.kind != EntryKind::hard_link)
    line += fmt::format(" {}.{:09}", entry.changed.seconds, entry.changed.nanoseconds);
  if (entry.kind == EntryKind::file) line += fmt::format(" {} {}", entry.size_bytes, files::to_hex(entry.digest));
  if (is_device(entry.kind))
    line += fmt::format(" {} {} {}", entry.kind == EntryKind::block_device ? 'b' : 'c', entry.major, entry.minor);
  line += ' ' + spelled_out(entry.path);
  if (is_link(entry.kind)) line += ' ' + spelled_out(entry.target);
  return line;
}

std::string encode_line(const ManifestEnd& end) {
  return fmt::format("{} {} {}", kEndWord, end.entries, files::to_hex(end.digest));
}

bool is_manifest_entry(const ManifestEntry& entry) {
  const bool has_target = entry.kind == EntryKind::symbolic_link ? is_link_target(entry.target)
                          : entry.kind == EntryKind::hard_link   ? is_entry_path(entry.target)
                                                                 : true;
  return has_target && is_entry_path(entry.path) && entry.mode <= kModeBits && entry.size_bytes <= kMaxSizeBytes &&
         entry.changed.nanoseconds <= kMaxNanoseconds;
}

bool is_end_line(std::string_view line) { return line.substr(0, line.find(' ')) == kEndWord; }

Result<ManifestEntry> parse_line(std::string_view line) {
  LineFields fields(line);
  UDTCAT_TRY(const auto word, fields.take("kind"));
  const auto* const known = std::ranges::find(kKinds, word, &KindFacts::manifest_word);
  if (known == kKinds.end()) return wrong("it is of no kind that is known");
  ManifestEntry entry;
  entry.kind = known->kind;
  if (!is_link(entry.kind)) {
    UDTCAT_TRY(entry.mode, fields.take_mode());
  }
  if (entry.kind != EntryKind::hard_link) {
    UDTCAT_TRY(entry.changed, fields.take_time());
  }
  UDTCAT_CHECK(take_own_fields(fields, entry));
  UDTCAT_TRY(entry.path, fields.take_path("path"));
  if (entry.kind == EntryKind::symbolic_link) {
    UDTCAT_TRY(entry.target, fields.take_name("target"));
    if (!is_link_target(entry.target)) return wrong("its target is none that a link can have");
  } else if (entry.kind == EntryKind::hard_link) {
    UDTCAT_TRY(entry.target, fields.take_path("other name"));
  }
  UDTCAT_CHECK(fields.end());
  return entry;
}

Result<ManifestEnd> parse_end_line(std::string_view line) {
  LineFields fields(line);
  UDTCAT_TRY(const auto word, fields.take("kind"));
  if (word != kEndWord) return wrong("it is not the end");
  ManifestEnd end;
  UDTCAT_TRY(end.entries, fields.take_number<std::uint64_t>("count", UINT64_MAX));
  UDTCAT_TRY(end.digest, fields.take_digest());
  UDTCAT_CHECK(fields.end());
  return end;
}

}  // namespace udtcat::trees
