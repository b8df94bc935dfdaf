// SPDX-License-Identifier: Apache-2.0
#include "tool/program/completion.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "tool/program/help_pages.hpp"

namespace udtcat::tool {

namespace {

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
      if (option != nullptr) offer_all(option->choices);
    } else if (awaiting_ != nullptr) {
      offer_all(awaiting_->choices);
    } else {
      const bool goes_on = offer_command_words();
      if (goes_on && !before_.empty()) return std::move(text_);
      if (current_.starts_with('-') && !only_operands_)
        offer_options();
      else
        offer_all(kinds_of(operands_));
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

  /// ":host" and the like, for the operand of that number; empty: nothing is known.
  [[nodiscard]] Words kinds_of(std::size_t operand) const {
    if (as_udr_) return {":inner"};
    Words kinds;
    std::istringstream all(command_->operands);
    std::size_t at = 0;
    for (std::string kind; all >> kind && at <= operand; ++at) {
      const bool repeats = kind.ends_with("...");
      if (repeats) kind.erase(kind.size() - 3);
      if ((at == operand || repeats) && kind != "-") kinds.push_back(std::move(kind));
    }
    return kinds;
  }

  [[nodiscard]] bool begins_inner_line(std::size_t operand) const { return kinds_of(operand) == Words{":inner"}; }

  void offer(const std::string& word) {
    const bool fits = word.starts_with(':') || word.starts_with(current_);
    if (fits && offered_.insert(word).second) text_ += word + '\n';
  }

  void offer_options() {
    for (const DeclaredOption& option : options_)
      for (const std::string& name : option.names)
        if (option.offered && (!as_udr_ || name.starts_with("--"))) offer(name);
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
      offer(word);
      any = true;
    }
    if (before_.empty() && !is_help_) offer(kHelpWord);
    return any;
  }

  /// Behind `udtcat help`.
  void offer_help() {
    offer_command_words();
    if (!before_.empty()) return;
    offer_all(help_page_names());
    offer(kPipeWord);
  }

  void offer_all(const Words& words) {
    for (const std::string& word : words) offer(word);
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
