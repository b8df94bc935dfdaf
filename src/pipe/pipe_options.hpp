// SPDX-License-Identifier: Apache-2.0
/// The command line without a command's word: pipes, services and forwards, bare pipes, keygen. No input or output
/// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forward/forward_options.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::pipe {

enum class Mode {
  version,
  keygen,
  connect,  ///< udtcat HOST PORT
  listen,   ///< udtcat -l [ADDR:]PORT
  forward,  ///< either, with --to and --from
};

struct PipeOptions : forward::ForwardOptions {
  Mode mode = Mode::connect;
  bool asks_version = false;
  bool plain = false;                  ///< connect, listen: no session, bare bytes
  std::optional<std::string> exec{};   ///< connect, listen: a bridged command, for sh -c; none: stdin and stdout
  std::uint64_t core_limit_bytes = 0;  ///< of that command
  std::optional<std::uint64_t> expected_bytes{};  ///< connect, listen: sent, or received, as --size says
};

/// errors: Errc::bad_argument; `what` names the option and the value, `cause` what is allowed
[[nodiscard]] Result<PipeOptions> parse_pipe_options(const tool::Words& words);
/// Only the mode forward, for `command`, which does the like.  errors: Errc::bad_argument
[[nodiscard]] Result<PipeOptions> parse_forward_options(const std::string& command, const tool::Words& words);

[[nodiscard]] std::string help_text();
/// A pipe or a forward in sentences, for --check.
[[nodiscard]] tool::Words mode_summary(const PipeOptions& options);
[[nodiscard]] tool::DeclaredOptions pipe_options_declared();
[[nodiscard]] tool::DeclaredOptions forward_options_declared();

}  // namespace udtcat::pipe
