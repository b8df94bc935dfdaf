// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/configuration.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "lib/core/try.hpp"

namespace udtcat::tool {

Error Configuration::wrong(std::size_t line, std::string why) const {
  return line == 0 ? Error{Errc::bad_argument, path_, std::move(why)} : wrong_line(path_, line, std::move(why));
}

Configuration::Operand* Configuration::operand_named(const std::string& name) {
  if (name == "listen") return &listen_;
  if (name == "host") return &host_;
  return name == "port" ? &port_ : nullptr;
}

Result<Configuration> Configuration::parse(std::string_view text, const std::string& path) {
  Configuration made;
  made.path_ = path;
  UDTCAT_TRY(const auto lines, read_option_lines(text, path));
  for (const OptionLine& line : lines) {
    const auto refuse = [&](const char* why) {
      return tl::unexpected(made.wrong(line.number, fmt::format("\"{}\" {}", line.name, why)));
    };
    if (line.name == "command") {
      if (!made.command_.empty()) return refuse("stands here the second time");
      if (line.values.empty()) return refuse("needs the words of a command, as in command gridftp serve");
      made.command_ = line.values;
      made.command_line_ = line.number;
    } else if (Operand* const operand = made.operand_named(line.name)) {
      if (operand->line != 0) return refuse("stands here the second time");
      if (line.values.size() != 1 || line.values.front().empty() || line.values.front().starts_with('-'))
        return refuse("needs one value: listen [ADDR:]PORT, host HOST, port PORT");
      *operand = {line.values.front(), line.number};
    } else {
      UDTCAT_TRY(OptionWord option, option_word(line, path));
      made.options_.push_back(std::move(option));
    }
  }
  UDTCAT_CHECK(made.check_operands());
  return made;
}

/// A file has `listen`, or `host` and `port`.
Status Configuration::check_operands() const {
  for (const Operand* other : {&host_, &port_})
    if (listen_.line != 0 && other->line != 0)
      return tl::unexpected(wrong(std::max(listen_.line, other->line),
                                  fmt::format("line {} says the opposite; allowed: listen, or host and port",
                                              std::min(listen_.line, other->line))));
  if (port_.line != 0 && host_.line == 0) return tl::unexpected(wrong(port_.line, "port needs a host beside it"));
  const bool has_port = port_.line != 0 || host_.text.find(':') != std::string::npos;
  if (host_.line != 0 && !has_port) return tl::unexpected(wrong(host_.line, "host needs a port beside it"));
  return {};
}

/// The operands stand before the options, so that an option without its value does not take one of them.
Words Configuration::operands() const {
  Words words;
  if (listen_.line != 0) words.emplace_back("--listen");
  for (const Operand* operand : {&listen_, &host_, &port_})
    if (operand->line != 0) words.push_back(operand->text);
  return words;
}

Words Configuration::words() const {
  Words words = operands();
  std::ranges::copy(words_of(options_), std::back_inserter(words));
  return words;
}

Error Configuration::blame(Error error, const std::function<Status(const Words& words)>& read) const {
  if (const Status status = read(operands()); !status && status.error().message() == error.message()) {
    for (const Operand* operand : {&listen_, &host_, &port_})
      if (operand->line != 0 && error.message().find('"' + operand->text + '"') != std::string::npos)
        return wrong(operand->line, error.message());
    return wrong(0, error.message());
  }
  const auto line = line_to_blame(error, options_, [&](const Words& some) {
    Words words = operands();
    words.insert(words.end(), some.begin(), some.end());
    return read(words);
  });
  return line ? wrong(*line, error.message()) : error;
}

Error Configuration::blame(Error error) const {
  const auto line = line_that_says(error, options_);
  return line ? wrong(*line, error.message()) : error;
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
