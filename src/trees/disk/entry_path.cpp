// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/entry_path.hpp"

#include <algorithm>

#include "trees/disk/partial_files.hpp"

namespace udtcat::trees {

namespace {

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool is_entry_word(std::string_view word) {
  return !word.empty() && word.size() <= kMaxEntryWordBytes && word != "." && word != ".." && !is_parts_name(word);
}

/// Takes "-" and digits from the beginning.  returns  false: they are not there
bool take_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  if (!text.starts_with('-') || end < 2) return false;
  text.remove_prefix(end);
  return true;
}

}  // namespace

bool is_entry_path(std::string_view path) {
  if (path == ".") return true;
  if (path.size() > kMaxEntryPathBytes || has_nul(path)) return false;
  for (;;) {
    const auto slash = path.find('/');
    if (!is_entry_word(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_parts_name(std::string_view word) {
  constexpr std::string_view kBegin = kPartsName;
  if (!word.starts_with(kBegin)) return false;
  word.remove_prefix(kBegin.size());
  return word.empty() || (take_number(word) && (word.empty() || (take_number(word) && word.empty())));
}

bool has_parts_name(std::string_view path) {
  for (;;) {
    const auto slash = path.find('/');
    if (is_parts_name(path.substr(0, slash))) return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

bool is_link_target(std::string_view target) {
  return !target.empty() && target.size() <= kMaxLinkTargetBytes && !has_nul(target);
}

}  // namespace udtcat::trees
