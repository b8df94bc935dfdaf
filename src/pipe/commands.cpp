// SPDX-License-Identifier: Apache-2.0
#include "pipe/commands.hpp"

#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <udtcat/udtcat.hpp>

#include "forward/forward_command.hpp"
#include "lib/core/log.hpp"
#include "lib/core/secret_text.hpp"
#include "lib/core/try.hpp"
#include "pipe/open_stdin_warning.hpp"
#include "pipe/pipe_command.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/identity/ticket_lookup.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::pipe {

namespace {

/// A listener, or the other end of a ticket, with its stdin at a terminal and its output in a file does not read stdin,
/// whose end would never come.
void leave_terminal_unread(PipeOptions& options) {
  auto& session = options.session;
  const bool may_be = options.mode == Mode::listen || options.ticket.key;
  if (!may_be || options.exec || !session.sends || !session.receives) return;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) == 1) return;
  session.sends = false;
  core::log().info("stdin is a terminal and stdout is not: as with --recv-only, stdin is not read");
}

/// Adds --recv-only to the command for the other host, whose stdin, a terminal, would never end.
void invite_to_receive(PipeOptions& options) {
  struct stat sink {};
  const bool is_two_way = options.session.sends && options.session.receives && !options.exec;
  if (options.mode != Mode::listen || !is_two_way || !has_data(STDIN_FILENO)) return;
  // Output to a terminal or the null device: data from the peer are not expected.
  if (::fstat(STDOUT_FILENO, &sink) == 0 && S_ISCHR(sink.st_mode)) options.counterpart += " --recv-only";
}

/// Warns where stdout is a file that others can read, which --key-file would refuse: the shell's umask allowed it.
void warn_of_open_file(tool::Console& console) {
  struct stat about {};
  if (::fstat(STDOUT_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return;
  const mode_t mode = about.st_mode & 07777U;
  if ((mode & (S_IRWXG | S_IRWXO)) != 0)
    console.line(
        fmt::format("udtcat: warning: others can read the file that the key is written to ({:04o}); --key-file takes "
                    "it after chmod 600",
                    mode));
}

tool::ExitStatus keygen(tool::Console& console) {
  const tool::UnblockedSignals meanwhile;
  const auto key = Key::generate();
  Status printed;
  if (key) {
    const core::SecretText line(key->reveal_text() + "\n");
    printed = tool::print(line.view());
  }
  const Error* error = !key ? &key.error() : !printed ? &printed.error() : nullptr;
  if (error != nullptr) {
    console.line("udtcat: " + error->message());
    return tool::exit_status_of(error->code);
  }
  warn_of_open_file(console);
  return tool::ExitStatus::success;
}

class PipeInvocation final : public tool::OptionsInvocation<PipeOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool starts_programs() const override { return options_.exec.has_value(); }
  [[nodiscard]] bool needs_key() const override {
    return !options_.plain && options_.mode != Mode::version && options_.mode != Mode::keygen;
  }
  [[nodiscard]] Status prepare(bool has_key_candidate, tool::Console& console) override {
    UDTCAT_CHECK(tool::read_ticket(options_));
    UDTCAT_TRY(const bool makes_ticket, tool::makes_ticket(options_, has_key_candidate));
    if (makes_ticket) {
      UDTCAT_CHECK(tool::become_ticket_listener("udtcat {ticket}{options}", options_));
      options_.mode = Mode::listen;
    } else if (options_.accept_timeout && options_.mode == Mode::connect) {
      return tool::misplaced("--accept-timeout",
                             "this user has a key, by which this end connects and does not wait; --new-ticket makes a "
                             "ticket all the same");
    }
    // The warning is shown even with --quiet: nothing is protected.
    if (options_.plain)
      console.line("udtcat: " + tool::plain_warning());
    else
      tool::warn_of_protection(options_.session.protection, console);
    leave_terminal_unread(options_);
    invite_to_receive(options_);
    return {};
  }
  [[nodiscard]] Result<tool::Words> check_summary() const override { return mode_summary(options_); }
  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials found, const tool::RunContext& context) override {
    options_.core_limit_bytes = context.core_limit_bytes;
    if (options_.plain) return plain_command(options_, context.console);
    switch (options_.mode) {
      case Mode::version:
        return tool::printed(fmt::format("udtcat {}\n", version()), context.console);
      case Mode::keygen:
        return keygen(context.console);
      case Mode::listen:
        return listen_command(options_, std::move(found), context.console);
      case Mode::forward:
        return forward::forward_command(options_, std::move(found), context.console);
      default:
        return connect_command(options_, std::move(found), context.console);
    }
  }
};

}  // namespace

tool::Commands commands() {
  return {{.words = {},
           .help = help_text,
           .parse = tool::parse_as<PipeInvocation, parse_pipe_options>,
           .options = pipe_options_declared,
           .operands = ":host"},
          keygen_pair_command(),
          status_command()};
}

}  // namespace udtcat::pipe
