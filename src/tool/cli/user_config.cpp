// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/user_config.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "lib/core/pattern.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/suggestion.hpp"
#include "tool/cli/trusted_file.hpp"
#include "tool/cli/user_files.hpp"

namespace udtcat::tool {

namespace {

std::string config_path() {
  const auto path = user_file("config");
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

Result<Words> named_command(const OptionLine& line, const std::vector<Words>& all) {
  if (line.values == Words{kPipeWord}) return Words{};
  if (!line.values.empty() && std::ranges::find(all, line.values) != all.end()) return line.values;
  Words names{kPipeWord};
  for (const Words& words : all) names.push_back(fmt::format("{}", fmt::join(words, " ")));
  const std::string text = fmt::format("{}", fmt::join(line.values, " "));
  return tl::unexpected(wrong_user_line(
      line.number, fmt::format("there is no command \"{}\"; as in Command gridftp get, or Command pipe{}", text,
                               did_you_mean(text, names))));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view host) {
  return core::matches(pattern, host, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  });
}

Error wrong_user_line(std::size_t line, std::string why) { return wrong_line(config_path(), line, std::move(why)); }

Result<std::vector<OptionWord>> read_user_config(std::string_view text, const std::vector<Words>& all,
                                                 const Words& command, const std::string& host) {
  const std::string path = config_path();
  UDTCAT_TRY(const auto lines, read_option_lines(text, path));
  std::vector<OptionWord> options;
  std::set<std::string> known;
  Words of_command{"rsh"};  // its lines need no Command line: the file was once for rsh alone
  bool of_host = true;
  for (const OptionLine& line : lines) {
    if (line.name == "host") {
      if (line.values.empty()) return tl::unexpected(wrong_user_line(line.number, "Host needs a pattern"));
      of_host = !host.empty() && any_matches(line.values, host);
      continue;
    }
    if (line.name == "command") {
      UDTCAT_TRY(of_command, named_command(line, all));
      of_host = true;
      continue;
    }
    UDTCAT_TRY(OptionWord option, option_word(line, path));
    if (of_command == command && of_host && known.insert(line.name).second) options.push_back(std::move(option));
  }
  return options;
}

Result<std::string> load_user_config() {
  const std::string path = config_path();
  struct stat there {};
  if (path.empty() || (::lstat(path.c_str(), &there) != 0 && (errno == ENOENT || errno == ENOTDIR)))
    return std::string{};
  return read_trusted_file(path);  // it says which program runs as ssh
}

}  // namespace udtcat::tool
