/// The command line without a command's word: pipes, services and forwards, bare pipes, keygen. No input or output
/// here.
#pragma once

#include <optional>
#include <string>

#include "tool/options.hpp"

namespace udtcat::tool {

enum class Form {
  help,
  version,
  keygen,
  connect,  ///< udtcat HOST PORT
  listen,   ///< udtcat -l [ADDR:]PORT
  serve,    ///< udtcat -l [ADDR:]PORT --to HOST:PORT
  forward,  ///< udtcat HOST PORT --from [ADDR:]PORT
};

struct PipeOptions : Options {
  Form form = Form::help;
  bool plain = false;  ///< connect, listen: no session, bare bytes
  std::optional<std::string>
      exec{};  ///< connect, listen: the command that is bridged, for sh -c; none: stdin and stdout
  std::uint64_t core_limit_bytes = 0;  ///< of that command
  HostPort service{};                  ///< serve: to which each stream is connected
  HostPort front{};                    ///< forward: where local TCP clients come
};

/// errors: Errc::bad_argument; `what` names the option and the value, `cause` what is allowed
[[nodiscard]] Result<PipeOptions> parse_pipe_options(const Words& words);
/// Only the forms help, serve and forward, for `command`, which does the like.  errors: Errc::bad_argument
[[nodiscard]] Result<PipeOptions> parse_relay_options(const std::string& command, const Words& words);

/// The form in sentences, for --check.
[[nodiscard]] Words form_facts(const PipeOptions& options);

/// Synopsis, options, exit statuses, examples.
[[nodiscard]] std::string help_text();

}  // namespace udtcat::tool
