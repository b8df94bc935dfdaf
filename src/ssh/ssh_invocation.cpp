// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_invocation.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/core/try.hpp"
#include "ssh/greeting.hpp"

namespace udtcat::ssh {

namespace {

using Words = std::vector<std::string>;

// spec: ssh(1) of OpenSSH 9.2, getopt's string in ssh.c
constexpr std::string_view kFlags = "1246AaCfGgKkMNnqsTtVvXxYy";
constexpr std::string_view kWithValue = "BbcDEeFIiJLlmOoPpQRSWw";
/// Options that need ssh itself: a terminal, a forwarding alone, a query, the background.
constexpr std::string_view kOnlySsh = "fGMNOQtVWw";
/// Options that the far side or this program follows, and ssh need not.
constexpr std::string_view kNotHanded = "nsT";

class ArgumentReader {
 public:
  explicit ArgumentReader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  /// The order is ssh's: options, the destination, options again, the command.
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

// guess: NATs forget a silent connection after a minute at the soonest; an outage of two minutes is still survived
constexpr const char* kAliveInterval = "ServerAliveInterval=15";
constexpr const char* kAliveCountMax = "ServerAliveCountMax=8";

void add_option(Words& argv, std::string value) {
  argv.emplace_back("-o");
  argv.push_back(std::move(value));
}

/// The program, and the user's options behind `first`, as of an option that is given twice ssh takes the first.
Words argv_for(const SshInvocation& invocation, const Words& first) {
  Words argv = invocation.program;
  const auto ssh = std::ranges::find_if(argv, is_ssh);
  argv.insert(ssh == argv.end() ? ssh : ssh + 1, first.begin(), first.end());
  argv.insert(argv.end(), invocation.arguments.options.begin(), invocation.arguments.options.end());
  return argv;
}

/// RemoteCommand of the user's file is dropped, since ssh allows no other beside it. An old ssh has no such option.
void add_target(Words& argv, const SshInvocation& invocation, const std::optional<SshConfig>& config) {
  if (config && config->has_remote_command) add_option(argv, "RemoteCommand=none");
  argv.emplace_back("--");
  argv.push_back(invocation.arguments.destination);
}

}  // namespace

bool takes_next_word(const std::string& option_word) {
  const auto valued = option_word.find_first_of(kWithValue, 1);
  return valued != std::string::npos && valued + 1 == option_word.size();
}

Result<SshArguments> parse_ssh_arguments(const std::vector<std::string>& arguments) {
  return ArgumentReader(arguments).read();
}

ControlMessage request_of(const SshArguments& arguments) {
  if (arguments.is_subsystem) return RunSubsystem{arguments.command};
  return RunCommand{arguments.command};
}

bool is_ssh(std::string_view word) { return word.substr(word.rfind('/') + 1) == "ssh"; }

bool is_openssh(const SshInvocation& invocation) { return std::ranges::any_of(invocation.program, is_ssh); }

std::vector<std::string> query_argv(const SshInvocation& invocation) {
  Words argv = argv_for(invocation, {});
  for (const std::string& word : {std::string("-G"), std::string("--"), invocation.arguments.destination})
    argv.push_back(word);
  return argv;
}

std::vector<std::string> script_argv(const SshInvocation& invocation, const std::optional<SshConfig>& config,
                                     const std::string& script) {
  Words first;
  if (config && !config->has_local_command) {
    add_option(first, "PermitLocalCommand=yes");
    add_option(first, fmt::format("LocalCommand=echo {}", kLoginLine));
  }
  Words argv = argv_for(invocation, first);
  argv.emplace_back("-T");
  if (config && !config->has_alive_interval) {
    add_option(argv, kAliveInterval);
    if (!config->has_alive_count_max) add_option(argv, kAliveCountMax);
  }
  add_target(argv, invocation, config);
  argv.push_back(script);
  return argv;
}

std::vector<std::string> plain_argv(const SshInvocation& invocation, const std::optional<SshConfig>& config) {
  Words argv = argv_for(invocation, {});
  argv.emplace_back("-T");
  if (invocation.arguments.without_input) argv.emplace_back("-n");
  if (invocation.arguments.is_subsystem) argv.emplace_back("-s");
  add_target(argv, invocation, config);
  argv.push_back(invocation.arguments.command);
  return argv;
}

}  // namespace udtcat::ssh
