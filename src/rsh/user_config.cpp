// SPDX-License-Identifier: Apache-2.0
#include "rsh/user_config.hpp"

#include <cctype>
#include <set>
#include <utility>

#include <unistd.h>

#include "lib/core/try.hpp"
#include "tool/process_setup.hpp"
#include "tool/trusted_file.hpp"
#include "tool/user_files.hpp"

namespace udtcat::rsh {

namespace {

std::string config_path() {
  const auto path = tool::user_file("config");
  return path ? path->string() : "";
}

/// As ssh: one pattern must match, and none that is negated.
bool any_matches(const std::vector<std::string>& patterns, const std::string& host) {
  bool matched = false;
  for (const std::string_view pattern : patterns) {
    const bool negated = pattern.starts_with('!');
    if (!matches(pattern.substr(negated ? 1 : 0), host)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view host) {
  // `star` and `taken`: the last *, and how much of the host it has taken: the only place to go back to.
  std::size_t p = 0, h = 0, star = std::string_view::npos, taken = 0;
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  while (h < host.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = h;
    } else if (p < pattern.size() && (pattern[p] == '?' || same(pattern[p], host[h]))) {
      ++p, ++h;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      h = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Error wrong_user_line(std::size_t line, std::string why) {
  return tool::wrong_line(config_path(), line, std::move(why));
}

Result<std::vector<tool::OptionWord>> read_user_config(std::string_view text, const std::string& host) {
  const std::string path = config_path();
  UDTCAT_TRY(const auto lines, tool::read_option_lines(text, path));
  std::vector<tool::OptionWord> options;
  std::set<std::string> known;
  bool applies = true;
  for (const tool::OptionLine& line : lines) {
    if (line.name == "host") {
      if (line.values.empty()) return tl::unexpected(wrong_user_line(line.number, "Host needs a pattern"));
      applies = any_matches(line.values, host);
      continue;
    }
    UDTCAT_TRY(tool::OptionWord option, tool::option_word(line, path));
    if (applies && known.insert(line.name).second) options.push_back(std::move(option));
  }
  return options;
}

Result<std::string> load_user_config() {
  const std::string path = config_path();
  if (path.empty() || ::access(path.c_str(), F_OK) != 0) return std::string{};
  return tool::read_trusted_file(path);  // it says which program runs as ssh
}

}  // namespace udtcat::rsh
