#include "tool/run.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/udtcat.hpp>

#include "lib/core/log.hpp"
#include "rsh/command/rsh_options.hpp"
#include "tool/commands.hpp"
#include "tool/console.hpp"
#include "tool/help.hpp"
#include "tool/libudt_program.hpp"
#include "tool/process_hardening.hpp"
#include "tool/protection_notice.hpp"
#include "tool/signal_watch.hpp"
#include "tool/standard_output.hpp"
#include "tool/stderr_log.hpp"
#include "tool/terminal_prompt.hpp"
#include "tool/user_config.hpp"

namespace udtcat::tool {

namespace {

ExitStatus failed(const Error& error, Console& console) {
  console.line("udtcat: " + error.message());
  return exit_status_of(error.code);
}

ExitStatus printed(const std::string& text, Console& console) {
  const SignalsLetThrough whoever_reads_may_be_slow;
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
  if (options.command != Command::listen || options.exec || !session.sends || !session.receives) return;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) == 1) return;
  session.sends = false;
  core::log().info("stdin is a terminal and stdout is not: as with --recv-only, stdin is not read");
}

/// A person, or whoever writes to a pipe, may take his time; nothing else is waited for.
bool may_wait_for_key(const Options& options, bool has_environment_key) {
  std::error_code unknown;
  if (options.key_file) return !std::filesystem::is_regular_file(*options.key_file, unknown);
  return !has_environment_key && !options.listens();
}

Result<FoundKey> find_key_somewhere(const Options& options, std::optional<crypto::SecretText> environment_key) {
  std::optional<SignalsLetThrough> meanwhile;
  if (may_wait_for_key(options, environment_key.has_value())) meanwhile.emplace();
  return find_key(options, std::move(environment_key), ask_on_terminal);
}

ExitStatus talk(Options options, std::optional<crypto::SecretText> environment_key, Console& console) {
  install_stderr_log(console, options.verbosity);
  say_what_is_open(options, console);
  leave_terminal_unread(options);
  if (options.plain) return plain_command(options, console);
  auto key = find_key_somewhere(options, std::move(environment_key));
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

using Words = std::vector<std::string>;

/// The commands that have a command line of their own.
std::optional<std::string> word_command(int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  for (const char* each : {"rsh", "rsh-server", "rsh-daemon", "gridftp"})
    if (word == each) return word;
  return std::nullopt;
}

/// How we were called, and what is to be given back to what we start.
struct Invocation {
  const char* const* argv;
  Words arguments;  // behind the command's own word
  std::uint64_t core_limit_bytes;
};

/// The key in the environment, once it is sure that this is the program that needs it.
Result<std::optional<crypto::SecretText>> take_key_for(TransportKind transport, const Invocation& invocation) {
  if (auto status = become_program_with(transport, invocation.argv, invocation.core_limit_bytes); !status)
    return tl::unexpected(std::move(status.error()));
  return take_environment_key();
}

ExitStatus run_rsh(const Invocation& invocation, Console& console) {
  const auto fails = [&](const Error& error) {
    std::ignore = failed(error, console);
    return ExitStatus::own_failure;
  };
  const auto config = load_user_config();
  if (!config) return fails(config.error());
  const auto options = parse_rsh_options(invocation.arguments, *config);
  if (!options) return fails(options.error());
  if (options->help) return printed(rsh_help_text(), console);
  auto key = take_key_for(options->common.transport.kind, invocation);
  if (!key) return fails(key.error());
  install_stderr_log(console, options->common.verbosity);
  return rsh_command(*options, std::move(*key), invocation.core_limit_bytes, console);
}

ExitStatus run_rsh_server(const Invocation& invocation, Console& console) {
  const auto options = parse_rsh_server_options(invocation.arguments);
  if (!options) return failed(options.error(), console);
  // The command's environment is ours, and no place for a key.
  if (auto key = take_key_for(options->common.transport.kind, invocation); !key) return failed(key.error(), console);
  install_stderr_log(console, options->common.verbosity);
  return rsh_server_command(*options, invocation.core_limit_bytes, console);
}

ExitStatus run_rsh_daemon(const Invocation& invocation, Console& console) {
  const auto options = parse_rsh_daemon_options(invocation.arguments);
  if (!options) return failed(options.error(), console);
  if (options->help) return printed(rsh_daemon_help_text(), console);
  auto environment_key = take_key_for(options->common.transport.kind, invocation);
  if (!environment_key) return failed(environment_key.error(), console);
  install_stderr_log(console, options->common.verbosity);
  auto key = find_key_somewhere(options->common, std::move(*environment_key));
  if (!key) return failed(key.error(), console);
  return rsh_daemon_command(*options, std::move(*key), console);
}

ExitStatus run_gateway(const Invocation& invocation, Console& console) {
  const Words arguments(invocation.arguments.begin() + 1, invocation.arguments.end());
  const auto options = parse_gateway_options(arguments);
  if (!options) return failed(options.error(), console);
  if (options->command == Command::help) return printed(gateway_help_text(), console);
  auto environment_key = take_key_for(options->transport.kind, invocation);
  if (!environment_key) return failed(environment_key.error(), console);
  install_stderr_log(console, options->verbosity);
  say_what_is_open(*options, console);
  auto key = find_key_somewhere(*options, std::move(*environment_key));
  if (!key) return failed(key.error(), console);
  return gateway_command(*options, std::move(*key), console);
}

ExitStatus run_gridftp(const Invocation& invocation, Console& console) {
  auto options = parse_gridftp_options(invocation.arguments);
  if (!options) return failed(options.error(), console);
  if (options->verb == GridftpVerb::help) return printed(gridftp_help_text(), console);
  auto environment_key = take_key_for(options->common.transport.kind, invocation);
  if (!environment_key) return failed(environment_key.error(), console);
  install_stderr_log(console, options->common.verbosity);
  if (auto settled = settle_protection(*options, environment_key->has_value()); !settled)
    return failed(settled.error(), console);
  auto key = find_key_somewhere(options->common, std::move(*environment_key));
  if (!key) return failed(key.error(), console);
  return gridftp_command(*options, std::move(*key), console);
}

}  // namespace

int run(int argc, const char* const* argv) {
  hold_signals();
  fill_standard_descriptors();
  const auto word = word_command(argc, argv);
  const bool executes =
      std::any_of(argv, argv + argc, [](std::string_view each) { return each.starts_with("--exec"); });
  const std::uint64_t core_limit_bytes = harden_process(word.has_value() || executes);
  // Outlives every user of the log, whenever a thread of the library says its last word.
  static Console console(STDERR_FILENO);
  if (word) {
    const Invocation invocation{argv, Words(argv + 2, argv + argc), core_limit_bytes};
    const bool gateway = *word == "gridftp" && !invocation.arguments.empty() && invocation.arguments[0] == "gateway";
    if (gateway) return to_int(run_gateway(invocation, console));
    if (*word == "gridftp") return to_int(run_gridftp(invocation, console));
    if (*word == "rsh") return to_int(run_rsh(invocation, console));
    if (*word == "rsh-daemon") return to_int(run_rsh_daemon(invocation, console));
    return to_int(run_rsh_server(invocation, console));
  }
  auto options = parse_options(argc, argv);
  if (!options) return to_int(failed(options.error(), console));
  options->core_limit_bytes = core_limit_bytes;
  switch (options->command) {
    case Command::help:
      return to_int(printed(help_text(), console));
    case Command::version:
      return to_int(printed(fmt::format("udtcat {}\n", version()), console));
    case Command::keygen:
      return to_int(keygen_command(console));
    default:
      break;
  }
  auto key = take_key_for(options->transport.kind, {argv, {}, core_limit_bytes});
  if (!key) return to_int(failed(key.error(), console));
  return to_int(talk(*options, std::move(*key), console));
}

}  // namespace udtcat::tool
