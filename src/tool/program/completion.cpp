// SPDX-License-Identifier: Apache-2.0
#include "tool/program/completion.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tool/cli/user_config.hpp"
#include "tool/program/help_pages.hpp"

namespace udtcat::tool {

namespace {

/// A line of help: "  -k, --key-file FILE    a shared key".
struct HelpLine {
  Words names;
  std::string value;
  std::string meaning;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

/// returns  none: the line is not about options
std::optional<HelpLine> read_help_line(const std::string& line) {
  const auto begin = line.find_first_not_of(' ');
  if (begin == 0 || begin == std::string::npos || line[begin] != '-') return std::nullopt;
  const auto gap = line.find("  ", begin);
  HelpLine read;
  for (std::string& word : words_of(line.substr(begin, gap - begin))) {
    if (word.ends_with(',')) word.pop_back();
    if (word.starts_with('-'))
      read.names.push_back(std::move(word));
    else if (read.value.empty())
      read.value = std::move(word);
  }
  if (gap != std::string::npos) read.meaning = line.substr(line.find_first_not_of(' ', gap));
  if (read.meaning.starts_with('-')) read.meaning.clear();  // another option
  return read;
}

/// The words of a command's help, or else of udtcat's own, about one of its options.
HelpLine help_about(const DeclaredOption& option, const Command& command, const Commands& commands) {
  std::vector<std::string> texts{command.help()};
  for (const Command& row : commands)
    if (row.words.empty()) texts.push_back(row.help());
  HelpLine about;
  for (const std::string& text : texts) {
    for (const std::string& line : lines_of(text)) {
      const auto read = read_help_line(line);
      if (!read || std::ranges::find_first_of(option.names, read->names) == option.names.end()) continue;
      if (about.meaning.empty()) about.meaning = read->meaning;
      if (about.value.empty()) about.value = read->value;
    }
  }
  return about;
}

/// "a remote shell" of "udtcat rsh: a remote shell", the first line of the command's help; else of its line of usage.
std::string meaning_of(const Command& command, const std::string& word) {
  const auto lines = lines_of(command.help());
  const auto colon = lines.front().find(": ");
  if (colon != std::string::npos && lines.front().substr(0, colon).ends_with(' ' + word))
    return lines.front().substr(colon + 2);
  for (const std::string& line : lines) {
    const auto gap = line.find("   ");
    if (line.starts_with("  udtcat " + word + ' ') && gap != std::string::npos)
      return line.substr(line.find_first_not_of(' ', gap));
  }
  return "";
}

/// HOST, [USER@]HOST, FILE...; not [options].
bool is_placeholder(const std::string& word) {
  return std::ranges::any_of(word, [](char each) { return each >= 'A' && each <= 'Z'; });
}

/// ":file" and the like, for a word that help calls FILE; empty: nothing is known.
std::string kind_of(std::string_view placeholder) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kKinds{
      {{"FILE", ":file"}, {"DIR", ":directory"}, {"HOST", ":host"}, {"CMD", ":command"}}};
  for (const auto& [word, kind] : kKinds)
    if (placeholder.find(word) != std::string_view::npos) return kind;
  return "";
}

/// As kind_of(), of an operand: PATH is local there, and remote as an option's value.
std::string kind_of_operand(std::string_view placeholder) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kKinds{
      {{"HOST", ":host"}, {"PATH", ":file"}, {"MANIFEST", ":file"}}};
  for (const auto& [word, kind] : kKinds)
    if (placeholder.find(word) != std::string_view::npos) return kind;
  return kind_of(placeholder);
}

/// The command line up to the word that is being written.
class CompletionState {
 public:
  CompletionState(const Commands& commands, Words words) : commands_(commands) {
    if (!words.empty()) {
      current_ = std::move(words.back());
      words.pop_back();
    }
    before_ = std::move(words);
    as_udr_ = !before_.empty() && before_.front() == "udr";
    if (as_udr_) before_.front() = "rsh";  // whose options it takes
    is_help_ = asks_for_help(before_);
    if (is_help_) before_.erase(before_.begin());
    command_ = &find_command(commands_, before_);
    if (command_->options != nullptr) options_ = command_->options();
    read_before();
  }

  [[nodiscard]] std::string offers() {
    if (is_help_) {
      offer_help();
    } else if (inner_) {
      offer(fmt::format(":inner {}", *inner_));
    } else if (const auto equals = current_.find('='); current_.starts_with("--") && equals != std::string::npos) {
      const DeclaredOption* option = find_option(current_.substr(0, equals));
      current_.erase(0, equals + 1);
      if (option != nullptr && option->takes_value) offer_values(*option);
    } else if (awaiting_ != nullptr) {
      offer_values(*awaiting_);
    } else {
      const bool goes_on = offer_command_words();
      if (goes_on && !before_.empty()) return std::move(text_);
      if (current_.starts_with('-') && !only_operands_)
        offer_options();
      else
        offer_operand();
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] const DeclaredOption* find_option(const std::string& name) const {
    const auto has_name = [&](const DeclaredOption& each) {
      return std::ranges::find(each.names, name) != each.names.end();
    };
    const auto found = std::ranges::find_if(options_, has_name);
    return found != options_.end() ? &*found : nullptr;
  }

  /// An option that is not declared counts as one with a value.
  [[nodiscard]] bool takes_value(const std::string& name) const {
    const DeclaredOption* option = find_option(name);
    return option == nullptr || option->takes_value;
  }

  /// Which of the words are operands, and whether the last option still wants its value.
  void read_before() {
    for (std::size_t i = command_->words.size(); i < before_.size(); ++i) {
      const std::string& word = before_[i];
      if (awaiting_ != nullptr) {
        awaiting_ = nullptr;
      } else if (word == "--" && !only_operands_) {
        only_operands_ = true;
      } else if (word.size() > 1 && word.starts_with('-') && !only_operands_) {
        const DeclaredOption* option = find_option(word);
        if (option != nullptr && option->takes_value) awaiting_ = option;
      } else {
        if (begins_inner_line(operands_)) {
          inner_ = i;
          return;
        }
        ++operands_;
      }
    }
    if (awaiting_ == nullptr && !current_.starts_with('-') && begins_inner_line(operands_)) inner_ = before_.size();
  }

  [[nodiscard]] std::vector<Words> usages() const {
    std::string beginning = as_udr_ ? "  udr " : "  udtcat ";
    if (!as_udr_)
      for (const std::string& word : command_->words) beginning += word + ' ';
    std::vector<Words> all;
    for (const std::string& line : lines_of(command_->help())) {
      if (!line.starts_with(beginning)) continue;
      const std::string rest = line.substr(beginning.size());
      if (command_->words.empty() && !rest.empty() && rest.front() >= 'a' && rest.front() <= 'z')
        continue;  // another's
      Words operands;
      bool is_value = false;
      for (const std::string& word : words_of(rest.substr(0, rest.find("   ")))) {
        const bool is_option = word.starts_with('-') || word.starts_with("[-");
        if (!is_option && !is_value && is_placeholder(word)) operands.push_back(word);
        is_value = is_option && !word.ends_with(']') && takes_value(word);
      }
      all.push_back(std::move(operands));
    }
    return all;
  }

  [[nodiscard]] bool begins_inner_line(std::size_t operand) const {
    return std::ranges::any_of(usages(), [&](const Words& usage) {
      return operand < usage.size() && (usage[operand].starts_with("COMMAND") || usage[operand].starts_with("PROGRAM"));
    });
  }

  void offer(const std::string& word, const std::string& meaning = "") {
    const bool fits = word.starts_with(':') || word.starts_with(current_);
    if (!fits || !offered_.insert(word).second) return;
    text_ += word + (meaning.empty() ? "" : '\t' + meaning) + '\n';
  }

  void offer_values(const DeclaredOption& option) {
    for (const std::string& choice : option.choices) offer(choice);
    const std::string kind = option.choices.empty() ? kind_of(help_about(option, *command_, commands_).value) : "";
    if (!kind.empty()) offer(kind);
  }

  void offer_options() {
    for (const DeclaredOption& option : options_) {
      if (!option.offered) continue;
      const std::string meaning = help_about(option, *command_, commands_).meaning;
      for (const std::string& name : option.names)
        if (!as_udr_ || name.starts_with("--")) offer(name, meaning);
    }
  }

  /// Offers the next word of each command that begins with the words before: "gridftp", and then its verbs.
  /// returns  whether there are any
  bool offer_command_words() {
    bool any = false;
    for (const Command& row : commands_) {
      const bool goes_on = row.words.size() > before_.size() && row.options != nullptr &&
                           std::equal(before_.begin(), before_.end(), row.words.begin());
      if (!goes_on) continue;
      const std::string& word = row.words[before_.size()];
      offer(word, meaning_of(row, word));
      any = true;
    }
    if (before_.empty() && !is_help_) offer(kHelpWord, "a topic, or a command, on one screen");
    return any;
  }

  /// Behind `udtcat help`.
  void offer_help() {
    offer_command_words();
    if (!before_.empty()) return;
    for (const std::string& topic : help_page_names()) offer(topic, lines_of(*help_page(topic)).front());
    offer(kPipeWord, "pipes and forwards: every option");
  }

  void offer_operand() {
    for (const Words& usage : usages()) {
      for (std::size_t i = 0; i < usage.size(); ++i) {
        const bool repeats = usage[i].find("...") != std::string::npos && i < operands_;
        const std::string kind = i == operands_ || repeats ? kind_of_operand(usage[i]) : "";
        if (!kind.empty()) offer(kind);
      }
    }
  }

  const Commands& commands_;
  const Command* command_ = nullptr;
  DeclaredOptions options_;
  Words before_;
  std::string current_;
  bool as_udr_ = false;
  bool is_help_ = false;                      // `before_` is without that word
  const DeclaredOption* awaiting_ = nullptr;  // the option whose value comes next
  bool only_operands_ = false;                // after "--"
  std::size_t operands_ = 0;                  // before the word
  std::optional<std::size_t> inner_;          // the word that begins another program's command line
  std::set<std::string> offered_;
  std::string text_;
};

}  // namespace

std::string completion(const Commands& commands, Words words) {
  return CompletionState(commands, std::move(words)).offers();
}

}  // namespace udtcat::tool
