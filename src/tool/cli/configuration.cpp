// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/configuration.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "tool/cli/shell_words.hpp"

namespace udtcat::tool {

namespace {

constexpr std::size_t kMaxLines = 4096;  // guess: a service of a thousand ports, with comments

/// The words of a line, which may be quoted, up to a comment; "name=value" counts as two. None where a quote is open.
std::optional<Words> words_of_line(std::string line) {
  constexpr std::string_view kBlank = " \t";
  const auto name = std::min(line.find_first_not_of(kBlank), line.size());
  const auto value = line.find_first_not_of(kBlank, line.find_first_of(" \t=", name));
  if (value != std::string::npos && line[value] == '=' && line[name] != '#') line[value] = ' ';
  return split_words(line, Comments::allowed);
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

/// A name and its values as a word of a command line: "--rate=400M", "--push", "-4".  errors: why it is none
Result<std::string> option_word(const std::string& name, const Words& values) {
  const auto wrong = [](const char* why) { return fail(Errc::bad_argument, "", why); };
  if (values.size() > 1) return wrong("has one value at most; quotes make one of several words");
  if (name.starts_with('-')) return wrong("is written without dashes here");
  if (name == "4" || name == "6") {
    if (!values.empty()) return wrong("has no value");
    return "-" + name;
  }
  if (name == "help" || name == "version" || name == "check")
    return wrong("is a question: it is asked on the command line");
  if (name.size() < 2) return wrong("is no option; allowed: the long names of options, 4 and 6");
  return "--" + name + (values.empty() ? "" : "=" + values.front());
}

}  // namespace

Result<Configuration> Configuration::parse(std::string_view text, const std::string& path) {
  Configuration made;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const Status line = made.read_line(std::string(text.substr(0, end)), number);
    if (!line) return fail(Errc::bad_argument, fmt::format("{}:{}", path, number), line.error().cause);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (const char* const wrong = made.wrong_operands()) return fail(Errc::bad_argument, path, wrong);
  return made;
}

Status Configuration::read_line(std::string line, std::size_t number) {
  const auto refuse = [](std::string why) { return fail(Errc::bad_argument, "", std::move(why)); };
  if (number > kMaxLines) return refuse(fmt::format("allowed: {} lines", kMaxLines));
  if (line.ends_with('\r')) line.pop_back();
  if (std::ranges::any_of(line, is_control)) return refuse("it has a control character: this is no file of options");
  auto words = words_of_line(std::move(line));
  if (!words) return refuse("a quote is not closed");
  if (words->empty()) return {};
  std::string name = std::move(words->front());
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  words->erase(words->begin());
  const auto refuse_it = [&](const std::string& why) { return refuse(fmt::format("\"{}\" {}", name, why)); };
  if (name == "command") {
    if (!command_.empty()) return refuse_it("stands here the second time");
    if (words->empty()) return refuse_it("needs the words of a command, as in command gridftp serve");
    command_ = std::move(*words);
  } else if (std::string* const operand = operand_named(name)) {
    if (!operand->empty()) return refuse_it("stands here the second time");
    if (name == "listen" && words->empty()) {
      listens_anywhere_ = true;
      return {};
    }
    if (words->size() != 1 || words->front().empty() || words->front().starts_with('-'))
      return refuse_it("needs one value: listen [ADDR:]PORT, host HOST, port PORT");
    *operand = std::move(words->front());
  } else {
    auto option = option_word(name, *words);
    if (!option) return refuse_it(option.error().cause);
    options_.push_back(std::move(*option));
  }
  return {};
}

std::string* Configuration::operand_named(const std::string& name) {
  if (name == "listen") return &listen_;
  if (name == "host") return &host_;
  return name == "port" ? &port_ : nullptr;
}

/// A file has `listen`, or `host` and `port`.  returns  what is wrong; null: nothing
const char* Configuration::wrong_operands() const {
  const bool listens = listens_anywhere_ || !listen_.empty();
  if (listens && !(host_.empty() && port_.empty())) return "it listens and connects; allowed: listen, or host and port";
  if (listens_anywhere_ && !listen_.empty()) return "\"listen\" stands here the second time";
  const bool has_via =
      std::ranges::any_of(options_, [](const std::string& each) { return each.starts_with("--via="); });
  if (listens_anywhere_ && !has_via) return "listen needs [ADDR:]PORT, unless there is a via";
  if (!port_.empty() && host_.empty()) return "port needs a host beside it";
  const bool has_port = !port_.empty() || host_.find(':') != std::string::npos;
  return host_.empty() || has_port ? nullptr : "host needs a port beside it";
}

Words Configuration::words() const {
  Words words;
  // Before the options, so that an option without its value does not take one of them.
  if (listens_anywhere_ || !listen_.empty()) words.emplace_back("--listen");
  for (const std::string* operand : {&listen_, &host_, &port_})
    if (!operand->empty()) words.push_back(*operand);
  words.insert(words.end(), options_.begin(), options_.end());
  return words;
}

Result<std::optional<std::string>> take_config_path(Words& arguments) {
  constexpr std::string_view kOption = "--config";
  if (arguments.empty() || !arguments.front().starts_with(kOption)) return std::nullopt;
  const std::string first = arguments.front();
  const bool joined = first.size() > kOption.size() && first[kOption.size()] == '=';
  if (first.size() > kOption.size() && !joined) return std::nullopt;
  const std::size_t words = joined ? 1 : 2;
  if (arguments.size() < words) return misplaced("option --config", "needs a value");
  std::string path = joined ? first.substr(kOption.size() + 1) : arguments[1];
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(words));
  // An option of the file that lacks its value must not take a word of the command line.
  if (!arguments.empty() && !arguments.front().starts_with('-'))
    return misplaced(fmt::format("--config {} {}", path, arguments.front()),
                     "allowed: options; where to listen or connect to stands in the file (listen, or host and port)");
  return path;
}

}  // namespace udtcat::tool
