// SPDX-License-Identifier: Apache-2.0
#include "files/entry_path.hpp"

#include "files/parts.hpp"

namespace udtcat::files {

namespace {

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool is_entry_word(std::string_view word) {
  return !word.empty() && word.size() <= kMaxEntryWordBytes && word != "." && word != "..";
}

}  // namespace

bool is_entry_path(std::string_view path) {
  if (path == ".") return true;
  if (path.size() > kMaxEntryPathBytes || has_nul(path) || path.substr(0, path.find('/')) == kPartsName) return false;
  for (;;) {
    const auto slash = path.find('/');
    if (!is_entry_word(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_link_target(std::string_view target) {
  return !target.empty() && target.size() <= kMaxLinkTargetBytes && !has_nul(target);
}

}  // namespace udtcat::files
