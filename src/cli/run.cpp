#include "cli/run.hpp"

#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/udtcat.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/process_hardening.hpp"
#include "cli/protection_notice.hpp"
#include "cli/standard_output.hpp"
#include "cli/stderr_log.hpp"
#include "cli/terminal_prompt.hpp"
#include "core/log.hpp"

namespace udtcat::cli {

namespace {

ExitStatus failed(const Error& error, Console& console) {
  console.line("udtcat: " + error.message());
  return exit_status_of(error.code);
}

ExitStatus printed(const std::string& text, Console& console) {
  const Status status = print(text);
  return status ? ExitStatus::success : failed(status.error(), console);
}

void say_what_is_open(const Options& options, Console& console) {
  // Even a user who wants to hear nothing hears that nothing protects him.
  if (options.plain) return console.line("udtcat: " + plain_notice());
  const Protection protection = options.session.protection;
  const auto notice = protection_notice(protection);
  if (!notice) return;
  if (protection == Protection::clear)
    console.line("udtcat: " + *notice);
  else
    core::log().warn("{}", *notice);
}

/// Nobody types into a listener whose output goes to a file: its stdin, the terminal, would only hold up the end.
void leave_terminal_unread(Options& options) {
  auto& session = options.session;
  if (options.command != Command::listen || !session.sends || !session.receives) return;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) == 1) return;
  session.sends = false;
  core::log().info("stdin is a terminal and stdout is not: as with --recv-only, stdin is not read");
}

ExitStatus talk(Options options, std::optional<SecretText> environment_key, Console& console) {
  install_stderr_log(console, options.verbosity);
  say_what_is_open(options, console);
  leave_terminal_unread(options);
  if (options.plain) return plain_command(options, console);
  auto key = find_key(options, std::move(environment_key), ask_on_terminal);
  if (!key) return failed(key.error(), console);
  switch (options.command) {
    case Command::listen:
      return listen_command(options, std::move(*key), console);
    case Command::serve:
      return serve_command(options, std::move(*key), console);
    case Command::forward:
      return forward_command(options, std::move(*key), console);
    default:
      return connect_command(options, std::move(*key), console);
  }
}

}  // namespace

int run(int argc, const char* const* argv) {
  fill_standard_descriptors();
  std::ignore = harden_process(false);
  auto environment_key = take_environment_key();
  // Outlives every user of the log, whenever a thread of the library says its last word.
  static Console console(STDERR_FILENO);
  const auto options = parse_options(argc, argv);
  if (!options) return to_int(failed(options.error(), console));
  switch (options->command) {
    case Command::help:
      return to_int(printed(help_text(), console));
    case Command::version:
      return to_int(printed(fmt::format("udtcat {}\n", version()), console));
    case Command::keygen:
      return to_int(keygen_command(console));
    default:
      return to_int(talk(*options, std::move(environment_key), console));
  }
}

}  // namespace udtcat::cli
