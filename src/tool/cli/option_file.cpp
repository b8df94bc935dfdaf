// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/option_file.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "tool/cli/shell_words.hpp"

namespace udtcat::tool {

namespace {

constexpr std::string_view kBlank = " \t";

/// The words of a line, which may be quoted, up to a comment; "name=value" counts as two. None where a quote is open.
std::optional<Words> words_of_line(std::string line) {
  const auto name = std::min(line.find_first_not_of(kBlank), line.size());
  const auto value = line.find_first_not_of(kBlank, line.find_first_of(" \t=", name));
  if (value != std::string::npos && line[value] == '=' && line[name] != '#') line[value] = ' ';
  return split_words(line, Comments::allowed);
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

Error wrong_line(const std::string& path, std::size_t number, std::string why) {
  return {Errc::bad_argument, fmt::format("{}:{}", path, number), std::move(why)};
}

Result<std::vector<OptionLine>> read_option_lines(std::string_view text, const std::string& path) {
  std::vector<OptionLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    if (number > kMaxOptionLines)
      return tl::unexpected(wrong_line(path, number, fmt::format("allowed: {} lines", kMaxOptionLines)));
    const auto end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.pop_back();
    if (std::ranges::any_of(line, is_control))
      return tl::unexpected(wrong_line(path, number, "it has a control character: this is no file of options"));
    auto words = words_of_line(std::move(line));
    if (!words) return tl::unexpected(wrong_line(path, number, "a quote is not closed"));
    if (words->empty()) continue;
    std::string name = in_lower_case(std::move(words->front()));
    words->erase(words->begin());
    lines.push_back({std::move(name), std::move(*words), number});
  }
  return lines;
}

Result<OptionWord> option_word(const OptionLine& line, const std::string& path) {
  const auto wrong = [&](const char* why) {
    return tl::unexpected(wrong_line(path, line.number, fmt::format("\"{}\" {}", line.name, why)));
  };
  if (line.values.size() > 1) return wrong("has one value at most; quotes make one of several words");
  if (line.name.starts_with('-')) return wrong("is written without dashes here");
  if (line.name == "4" || line.name == "6") {
    if (!line.values.empty()) return wrong("has no value");
    return OptionWord{"-" + line.name, line.number};
  }
  if (line.name == "help" || line.name == "version" || line.name == "check")
    return wrong("is a question: it is asked on the command line");
  if (line.name.size() < 2) return wrong("is no option; allowed: the long names of options, 4 and 6");
  const std::string value = line.values.empty() ? "" : "=" + line.values.front();
  return OptionWord{"--" + line.name + value, line.number};
}

Words words_of(const std::vector<OptionWord>& options) {
  Words words;
  for (const OptionWord& option : options) words.push_back(option.word);
  return words;
}

std::optional<std::size_t> line_to_blame(const Error& error, const std::vector<OptionWord>& options,
                                         const std::function<Status(const Words& some)>& read) {
  Words some;
  for (const OptionWord& option : options) {
    some.push_back(option.word);
    const Status status = read(some);
    if (!status && status.error().message() == error.message()) return option.line;
  }
  return std::nullopt;
}

std::optional<std::size_t> line_that_says(const Error& error, const std::vector<OptionWord>& options) {
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    const auto is = option->word.find('=');
    if (is == std::string::npos || is + 1 == option->word.size()) continue;
    const std::string value = option->word.substr(is + 1);
    if (error.what.ends_with(' ' + value) || error.what.ends_with('"' + value + '"')) return option->line;
  }
  return std::nullopt;
}

}  // namespace udtcat::tool
