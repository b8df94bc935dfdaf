#include "rsh/user_config.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "tool/process_setup.hpp"
#include "tool/shell_words.hpp"
#include "tool/trusted_file.hpp"

namespace udtcat::rsh {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string config_path() {
  // spec: XDG Base Directory Specification
  if (const auto directory = tool::environment("XDG_CONFIG_HOME")) return *directory + "/udtcat/config";
  const auto home = tool::environment("HOME");
  return home ? *home + "/.config/udtcat/config" : "";
}

/// The words of a line, which may be quoted, up to a comment; "name=value" counts as two.
std::vector<std::string> words_of(std::string line) {
  const auto name_end = line.find_first_of(" \t=", line.find_first_not_of(" \t"));
  const auto value = line.find_first_not_of(" \t", name_end);
  if (value != std::string::npos && line[value] == '=') line[value] = ' ';
  auto words = tool::split_words(line);
  const auto comment = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('#'); });
  words.erase(comment, words.end());
  return words;
}

/// As ssh: one pattern must match, and none that is negated.
bool any_matches(const std::vector<std::string>& words, const std::string& host) {
  bool matched = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool negated = words[i].starts_with('!');
    if (!matches(std::string_view(words[i]).substr(negated ? 1 : 0), host)) continue;
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

Error wrong_line(int line, std::string why) {
  return {Errc::bad_argument, fmt::format("{}, line {}", config_path(), line), std::move(why)};
}

Result<std::vector<ConfiguredOption>> read_user_config(std::string_view text, const std::string& host) {
  std::vector<ConfiguredOption> options;
  std::set<std::string> known;
  bool applies = true;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    const std::string name = lower(words[0]);
    if (name == "host") {
      if (words.size() < 2) return tl::unexpected(wrong_line(number, "Host needs a pattern"));
      applies = any_matches(words, host);
      continue;
    }
    if (words.size() > 2)
      return tl::unexpected(
          wrong_line(number, fmt::format("\"{}\" has one value at most; quotes make one of several words", words[0])));
    if (words[0].starts_with('-'))
      return tl::unexpected(wrong_line(number, fmt::format("\"{}\" is written without dashes here", words[0])));
    if (!applies || !known.insert(name).second) continue;
    options.push_back({words.size() == 2 ? fmt::format("--{}={}", name, words[1]) : "--" + name, number});
  }
  return options;
}

Result<std::string> load_user_config() {
  const std::string path = config_path();
  if (path.empty() || ::access(path.c_str(), F_OK) != 0) return std::string{};
  return tool::read_trusted_file(path);  // it says which program runs as ssh
}

}  // namespace udtcat::rsh
