// SPDX-License-Identifier: Apache-2.0
/// The command lines of `udtcat send`, `udtcat receive` and `udtcat verify`. No input or output here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "tool/command_line.hpp"
#include "tool/options.hpp"
#include "trees/work.hpp"

namespace udtcat::trees {

inline constexpr std::size_t kMaxTransfers = 16;                // guess: of a listener; three threads each, and a disk
inline constexpr std::size_t kMaxTransfersOfPeer = 12;          // guess: some are left to others
inline constexpr std::size_t kMaxSessions = 2 * kMaxTransfers;  // guess: as many again may be about to leave

/// The way to the other end.
enum class Way {
  dial,    ///< a listener waits at Options::peer
  listen,  ///< the other end comes to Options::local
  ssh,     ///< ssh starts it
};

struct TreeOptions : tool::Options {
  bool help = false;  ///< nothing else then
  Role role = Role::sends;
  Way way = Way::dial;
  Selection selection;         ///< files here; of a connector that receives, files there
  std::string directory{"."};  ///< of a receiver, and of a listener that sends
  Wishes wishes;
  bool once = false;          ///< a listener ends with its first transfer
  std::string destination{};  ///< by ssh: [USER@]HOST
  std::string place{};        ///< by ssh, of a sender: the directory there
  tool::Words rsh_words{};    ///< by ssh: options of `udtcat rsh`
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<TreeOptions> parse_send_options(const tool::Words& arguments);
[[nodiscard]] Result<TreeOptions> parse_receive_options(const tool::Words& arguments);

struct VerifyOptions : tool::Options {
  bool help = false;
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
