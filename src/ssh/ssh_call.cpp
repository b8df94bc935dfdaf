// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_call.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ssh/greeting.hpp"

namespace udtcat::ssh {

namespace {

using Words = std::vector<std::string>;

// guess: NATs forget a silent connection after a minute at the soonest; an outage of two minutes is still survived
constexpr const char* kAliveInterval = "ServerAliveInterval=15";
constexpr const char* kAliveCountMax = "ServerAliveCountMax=8";

bool is_ssh(std::string_view word) { return word.substr(word.rfind('/') + 1) == "ssh"; }

void add_option(Words& words, std::string value) {
  words.emplace_back("-o");
  words.push_back(std::move(value));
}

/// The program, and the user's options behind `first`, as of an option that is given twice ssh takes the first.
Words call_words(const SshCall& call, const Words& first) {
  Words words = call.program;
  const auto ssh = std::ranges::find_if(words, is_ssh);
  words.insert(ssh == words.end() ? ssh : ssh + 1, first.begin(), first.end());
  words.insert(words.end(), call.words.options.begin(), call.words.options.end());
  return words;
}

/// Without the command of the user's file, beside which ssh allows no other. An old ssh has none, nor the option.
void add_target(Words& words, const SshCall& call, const std::optional<SshConfig>& config) {
  if (config && config->has_remote_command) add_option(words, "RemoteCommand=none");
  words.emplace_back("--");
  words.push_back(call.words.destination);
}

}  // namespace

ControlMessage request_of(const SshWords& words) {
  if (words.is_subsystem) return RunSubsystem{words.command};
  return RunCommand{words.command};
}

bool is_openssh(const SshCall& call) { return std::ranges::any_of(call.program, is_ssh); }

std::vector<std::string> query_words(const SshCall& call) {
  Words words = call_words(call, {});
  for (const std::string& word : {std::string("-G"), std::string("--"), call.words.destination}) words.push_back(word);
  return words;
}

std::vector<std::string> script_words(const SshCall& call, const std::optional<SshConfig>& config,
                                      const std::string& script) {
  Words first;
  if (config && !config->has_local_command) {
    add_option(first, "PermitLocalCommand=yes");
    add_option(first, fmt::format("LocalCommand=echo {}", kLoginLine));
  }
  Words words = call_words(call, first);
  words.emplace_back("-T");
  if (config && !config->has_alive_interval) {
    add_option(words, kAliveInterval);
    if (!config->has_alive_count_max) add_option(words, kAliveCountMax);
  }
  add_target(words, call, config);
  words.push_back(script);
  return words;
}

std::vector<std::string> plain_words(const SshCall& call, const std::optional<SshConfig>& config) {
  Words words = call_words(call, {});
  words.emplace_back("-T");
  if (call.words.without_input) words.emplace_back("-n");
  if (call.words.is_subsystem) words.emplace_back("-s");
  add_target(words, call, config);
  words.push_back(call.words.command);
  return words;
}

}  // namespace udtcat::ssh
