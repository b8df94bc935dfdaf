// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/key_hiding.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <optional>

namespace udtcat::tool {

namespace {

constexpr std::string_view kKeyPrefix = "udtcat1-";  // spec: docs/spec/handshake.md §1

bool is_of_key(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

/// The secret characters of a key, as a range of the text's.
struct Secret {
  std::size_t begin;
  std::size_t end;
};

/// The first at or behind `from` that has any; none: there is none.
std::optional<Secret> find_secret(std::string_view text, std::size_t from) {
  for (auto at = text.find(kKeyPrefix, from); at != std::string_view::npos; at = text.find(kKeyPrefix, at + 1)) {
    const std::size_t begin = at + kKeyPrefix.size();
    const auto rest = text.substr(begin);
    const auto count = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_of_key) - rest.begin());
    if (count > 0) return Secret{begin, begin + count};
  }
  return std::nullopt;
}

}  // namespace

std::string without_keys(std::string_view text) {
  std::string hidden;
  std::size_t done = 0;
  while (const auto secret = find_secret(text, done)) {
    hidden += std::string(text.substr(done, secret->begin - done)) + "...";
    done = secret->end;
  }
  return hidden + std::string(text.substr(done));
}

void hide_keys(std::span<char* const> arguments) {
  for (char* const each : arguments) {
    const std::span<char> text(each, std::strlen(each));
    for (auto secret = find_secret(each, 0); secret; secret = find_secret(each, secret->end))
      std::ranges::fill(text.subspan(secret->begin, secret->end - secret->begin), 'x');
  }
}

}  // namespace udtcat::tool
