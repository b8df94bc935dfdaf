// SPDX-License-Identifier: Apache-2.0
#include "files/byte_ranges.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"

namespace udtcat::files {

namespace {

std::optional<ByteRange> range_of(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = core::parse_number<std::uint64_t>(text.substr(0, dash));
  const auto end = core::parse_number<std::uint64_t>(text.substr(dash + 1));
  if (!begin || !end || *end < *begin) return std::nullopt;
  return ByteRange{*begin, *end};
}

}  // namespace

Status ByteRanges::add(ByteRange range) {
  if (range.begin >= range.end) return {};
  auto first = ranges_.upper_bound(range.begin);
  if (first != ranges_.begin() && std::prev(first)->second >= range.begin) --first;
  auto last = first;
  for (; last != ranges_.end() && last->first <= range.end; ++last) {
    range.begin = std::min(range.begin, last->first);
    range.end = std::max(range.end, last->second);
    bytes_ -= last->second - last->first;
  }
  ranges_.erase(first, last);
  ranges_.emplace(range.begin, range.end);
  bytes_ += range.bytes();
  if (ranges_.size() > kMaxRanges)
    return fail(Errc::protocol_violated, "keep what has arrived", "it is in more pieces than anybody needs");
  return {};
}

bool ByteRanges::contains(ByteRange range) const {
  return range.begin >= range.end || contiguous_from(range.begin) >= range.end;
}

bool ByteRanges::touches(ByteRange range) const {
  const auto next = ranges_.upper_bound(range.begin);
  return contiguous_from(range.begin) > range.begin || (next != ranges_.end() && next->first < range.end);
}

std::uint64_t ByteRanges::contiguous_from(std::uint64_t from) const {
  const auto next = ranges_.upper_bound(from);
  return next == ranges_.begin() ? from : std::max(from, std::prev(next)->second);
}

std::vector<ByteRange> ByteRanges::missing_from(ByteRange whole) const {
  std::vector<ByteRange> missing;
  while (whole.begin < whole.end) {
    whole.begin = contiguous_from(whole.begin);
    const auto next = ranges_.upper_bound(whole.begin);
    const std::uint64_t end = next == ranges_.end() ? whole.end : std::min(whole.end, next->first);
    if (whole.begin < end) missing.push_back({whole.begin, end});
    whole.begin = std::max(whole.begin, end);
  }
  return missing;
}

std::vector<ByteRange> ByteRanges::ranges() const {
  std::vector<ByteRange> all;
  for (const auto& [begin, end] : ranges_) all.push_back({begin, end});
  return all;
}

std::string ByteRanges::to_text() const {
  std::string text;
  for (const auto& [begin, end] : ranges_) text += fmt::format("{}{}-{}", text.empty() ? "" : ",", begin, end);
  return text;
}

Result<ByteRanges> ByteRanges::parse(std::string_view text) {
  constexpr std::string_view kSpaces = " ";
  ByteRanges parsed;
  text = core::trimmed(text, kSpaces);
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto range = range_of(core::trimmed(text.substr(0, comma), kSpaces));
    if (!range) return fail(Errc::protocol_violated, "read a range", core::printable(text, 80));
    UDTCAT_CHECK(parsed.add(*range));
    text = comma == std::string_view::npos ? std::string_view() : core::trimmed(text.substr(comma + 1), kSpaces);
    if (comma != std::string_view::npos && text.empty())
      return fail(Errc::protocol_violated, "read ranges", "nothing follows the last comma");
  }
  return parsed;
}

}  // namespace udtcat::files
