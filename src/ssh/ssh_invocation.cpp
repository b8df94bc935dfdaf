// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_invocation.hpp"

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

/// Without the command of the user's file, beside which ssh allows no other. An old ssh has none, nor the option.
void add_target(Words& argv, const SshInvocation& invocation, const std::optional<SshConfig>& config) {
  if (config && config->has_remote_command) add_option(argv, "RemoteCommand=none");
  argv.emplace_back("--");
  argv.push_back(invocation.arguments.destination);
}

}  // namespace

ControlMessage request_of(const SshArguments& arguments) {
  if (arguments.is_subsystem) return RunSubsystem{arguments.command};
  return RunCommand{arguments.command};
}

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
