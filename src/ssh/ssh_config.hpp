// SPDX-License-Identifier: Apache-2.0
/// A command line as ssh understands it, and says by -G.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/bridge/child_process.hpp"

namespace udtcat::ssh {

struct SshConfig {
  std::string user;
  std::string hostname;  ///< that is really dialled; an alias has been looked up
  std::string port;
  std::string credentials;           ///< what else decides who answers: keys, certificates, proxies
  std::string control_path;          ///< empty: no connection is shared
  bool is_proxied = false;           ///< by ProxyJump or ProxyCommand
  bool has_remote_command = false;   ///< which no command of ours may stand beside
  bool has_local_command = false;    ///< of the user's
  bool has_alive_interval = false;   ///< ServerAliveInterval
  bool has_alive_count_max = false;  ///< ServerAliveCountMax, other than the default
  bool shares_always = false;        ///< ControlMaster=yes, which uses no other's connection
  bool may_be_master = false;        ///< other commands may go through its connection

  /// Whether another ssh's connection will be used: somebody listens at control_path.
  [[nodiscard]] bool finds_master() const;
};

/// The key of a destination in FallbackCache. Other credentials may lead to another login, and another network of this
/// host to another path.
/// own   this host's addresses
[[nodiscard]] std::string destination_key(const SshConfig& config, const std::string& ports,
                                          const std::vector<Endpoint>& own);

/// output   lines "name value"
[[nodiscard]] std::optional<SshConfig> parse_ssh_config(std::string_view output);

/// Runs `query` and reads what it prints. Blocks, for `timeout` at most.
/// returns  none where it cannot be run, fails, or takes longer: before OpenSSH 6.8 there is no -G
[[nodiscard]] std::optional<SshConfig> ask_ssh(bridge::ChildRequest query, std::chrono::milliseconds timeout);

}  // namespace udtcat::ssh
