#include "tool/command.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "lib/core/invariant.hpp"
#include "tool/process_setup.hpp"
#include "tool/signal_watch.hpp"
#include "tool/terminal_prompt.hpp"

namespace udtcat::tool {

namespace {

/// Finds the row with the most words that begin `arguments`, and takes them away there.
const Command& take_command(const Commands& commands, Words& arguments) {
  const Command* found = nullptr;
  for (const Command& command : commands) {
    const Words& words = command.words;
    const bool begins = words.size() <= arguments.size() && std::equal(words.begin(), words.end(), arguments.begin());
    if (begins && (found == nullptr || words.size() > found->words.size())) found = &command;
  }
  UDTCAT_INVARIANT(found != nullptr, "one row has no words");
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(found->words.size()));
  return *found;
}

/// Whether the key comes from a person or through a pipe, which may take long.
bool may_wait_for_key(const Options& options, bool has_environment_key) {
  std::error_code unknown;
  if (options.key_file) return !std::filesystem::is_regular_file(*options.key_file, unknown);
  return !has_environment_key && !options.listens;
}

Result<FoundKey> find_key_somewhere(const Options& options, std::optional<core::SecretText> environment_key) {
  std::optional<SignalsLetThrough> meanwhile;
  if (may_wait_for_key(options, environment_key.has_value())) meanwhile.emplace();
  return find_key(options, std::move(environment_key), ask_on_terminal);
}

ExitStatus carry_out(const Command& command, const Words& arguments, const char* const* argv,
                     const JobContext& context) {
  const auto fails = [&](const Error& error) {
    context.console.line("udtcat: " + error.message());
    return command.failure.value_or(exit_status_of(error.code));
  };
  auto parsed = command.parse(arguments);
  if (!parsed) return fails(parsed.error());
  if (*parsed == nullptr) return printed(command.help(), context.console);
  Job& job = **parsed;
  if (!job.starts_programs()) forbid_core_dumps_for_good();
  const auto kind = job.options().transport.kind;
  if (auto status = become_program_with(kind, argv, context.core_limit_bytes); !status) return fails(status.error());
  // Only now it is sure that this is the program that needs the key. Programs that it starts never see it.
  auto environment_key = take_environment_key();
  install_stderr_log(context.console, job.options().verbosity);
  if (auto prepared = job.prepare(environment_key.has_value(), context.console); !prepared)
    return fails(prepared.error());
  if (!job.needs_key()) return job.run({}, context);
  auto key = find_key_somewhere(job.options(), std::move(environment_key));
  if (!key) return fails(key.error());
  return job.run(std::move(*key), context);
}

}  // namespace

int run(int argc, const char* const* argv, const Commands& commands) {
  hold_signals();
  fill_standard_descriptors();
  const std::uint64_t core_limit_bytes = harden_process();
  // Static: threads of the library may log until the process ends.
  static Console console(STDERR_FILENO);
  Words arguments(argv + std::min(argc, 1), argv + argc);
  const Command& command = take_command(commands, arguments);
  return to_int(carry_out(command, arguments, argv, {console, core_limit_bytes}));
}

}  // namespace udtcat::tool
