// SPDX-License-Identifier: Apache-2.0
/// The command lines of `udtcat send`, `udtcat receive` and `udtcat verify`. No input or output here.
#pragma once

#include <cstddef>
#include <string>

#include <udtcat/result.hpp>

#include "ssh/far_server.hpp"
#include "ssh/ssh_dial.hpp"
#include "tool/cli/command_line.hpp"
#include "tool/cli/options.hpp"
#include "trees/transfer_roles.hpp"

namespace udtcat::trees {

inline constexpr std::size_t kMaxTransfers = 16;                // guess: of a listener; three threads each, and a disk
inline constexpr std::size_t kMaxTransfersOfPeer = 12;          // guess: some are left to others
inline constexpr std::size_t kMaxSessions = 2 * kMaxTransfers;  // guess: as many again may be about to leave

/// How the two ends come to be connected.
enum class ConnectMode {
  dial,    ///< a listener waits at Options::peer
  listen,  ///< the other end comes to Options::local
  ssh,     ///< ssh starts it
};

struct TreeOptions : ssh::SshDialOptions {
  Role role = Role::sends;
  ConnectMode connect_mode = ConnectMode::dial;
  Selection selection;         ///< files here; of a connector that receives, files there
  std::string directory{"."};  ///< of a receiver, and of a listener that sends
  TransferOptions transfer;
  bool once = false;         ///< a listener ends with its first transfer
  bool require_udp = false;  ///< by ssh: ssh itself carries nothing
  std::string place{};       ///< by ssh, of a sender: the directory there
};

/// The command that ssh starts at the other end.
inline constexpr const char* kFarCommand = "trees-server";
/// Its name in the request over ssh, where there is no session.
inline constexpr const char* kSubsystem = "trees";

/// errors: Errc::bad_argument
[[nodiscard]] Result<TreeOptions> parse_send_options(const tool::Words& arguments);
[[nodiscard]] Result<TreeOptions> parse_receive_options(const tool::Words& arguments);

/// errors: Errc::bad_argument
struct TreesServerOptions : ssh::FarOptions {
  std::string into{};  ///< the directory to which it is confined, and it receives only; empty: all of the account
};
[[nodiscard]] Result<TreesServerOptions> parse_trees_server_options(const tool::Words& arguments);

struct VerifyOptions : tool::Options {
  std::string manifest;
  std::string directory{"."};
};
[[nodiscard]] Result<VerifyOptions> parse_verify_options(const tool::Words& arguments);

// For completion.
[[nodiscard]] tool::DeclaredOptions send_options_declared();
[[nodiscard]] tool::DeclaredOptions receive_options_declared();
[[nodiscard]] tool::DeclaredOptions verify_options_declared();

[[nodiscard]] std::string send_help_text();
[[nodiscard]] std::string receive_help_text();
[[nodiscard]] std::string verify_help_text();

}  // namespace udtcat::trees
