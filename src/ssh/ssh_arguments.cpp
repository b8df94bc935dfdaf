// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_arguments.hpp"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/core/try.hpp"

namespace udtcat::ssh {

namespace {

// spec: ssh(1) of OpenSSH 9.2, getopt's string in ssh.c
constexpr std::string_view kFlags = "1246AaCfGgKkMNnqsTtVvXxYy";
constexpr std::string_view kWithValue = "BbcDEeFIiJLlmOoPpQRSWw";
/// Options that need ssh itself: a terminal, a forwarding alone, a query, the background.
constexpr std::string_view kOnlySsh = "fGMNOQtVWw";
/// Options that the far side or this program follows, and ssh need not.
constexpr std::string_view kNotHanded = "nsT";

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  /// As ssh: options, the destination, options again, the command.
  Result<SshArguments> read() {
    UDTCAT_CHECK(read_options());
    if (at_ < arguments_.size()) words_.destination = arguments_[at_++];
    if (!options_are_over_) UDTCAT_CHECK(read_options());
    const auto rest = arguments_.begin() + static_cast<std::ptrdiff_t>(at_);
    words_.command = fmt::format("{}", fmt::join(rest, arguments_.end(), " "));
    if (words_.only_ssh.empty() && words_.destination.empty()) words_.only_ssh = "no host";
    if (words_.only_ssh.empty() && words_.command.empty()) words_.only_ssh = "no command";
    return std::move(words_);
  }

 private:
  Status read_options() {
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_];
      if (word.size() < 2 || word.front() != '-') return {};
      ++at_;
      options_are_over_ = word == "--";
      if (options_are_over_) return {};
      UDTCAT_CHECK(read_cluster(word));
    }
    return {};
  }

  /// "-4vp22": flags, then at most one option with its value, which may be the next word.
  Status read_cluster(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const char option = word[i];
      if (kFlags.find(option) != std::string_view::npos) {
        take_flag(option);
        continue;
      }
      if (kWithValue.find(option) == std::string_view::npos)
        return fail(Errc::bad_argument, fmt::format("option \"-{}\" in \"{}\"", option, word),
                    "neither ssh's nor ours; see udtcat-rsh(1)");
      return take_value(option, word.substr(i + 1));
    }
    return {};
  }

  void take_flag(char option) {
    words_.without_input |= option == 'n';
    words_.is_subsystem |= option == 's';
    words_.quiet |= option == 'q';
    note(option);
    if (kNotHanded.find(option) == std::string_view::npos) words_.options.push_back({'-', option});
  }

  Status take_value(char option, std::string value) {
    note(option);
    if (value.empty()) {
      if (at_ == arguments_.size())
        return fail(Errc::bad_argument, fmt::format("option \"-{}\"", option), "needs a value");
      value = arguments_[at_++];
    }
    // An -o without its value would take the next word, perhaps the host.
    if (option == 'o' && value.find_first_of("= \t") == std::string::npos)
      return fail(Errc::bad_argument, fmt::format("option \"-o {}\"", value),
                  "needs NAME=VALUE, as in -o BatchMode=yes");
    words_.options.push_back({'-', option});
    words_.options.push_back(std::move(value));
    return {};
  }

  void note(char option) {
    if (kOnlySsh.find(option) != std::string_view::npos && words_.only_ssh.empty())
      words_.only_ssh = fmt::format("-{}", option);
  }

  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  bool options_are_over_ = false;
  SshArguments words_;
};

}  // namespace

bool takes_next_word(const std::string& option_word) {
  const auto valued = option_word.find_first_of(kWithValue, 1);
  return valued != std::string::npos && valued + 1 == option_word.size();
}

Result<SshArguments> parse_ssh_arguments(const std::vector<std::string>& arguments) { return Reader(arguments).read(); }

}  // namespace udtcat::ssh
