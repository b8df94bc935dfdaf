// SPDX-License-Identifier: Apache-2.0
#include "tool/command.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"
#include "tool/completion.hpp"
#include "tool/configuration.hpp"
#include "tool/facts.hpp"
#include "tool/process_setup.hpp"
#include "tool/service_manager.hpp"
#include "tool/signal_watch.hpp"
#include "tool/terminal_prompt.hpp"
#include "tool/trusted_file.hpp"

namespace udtcat::tool {

namespace {

/// Whether the key comes from a person or through a pipe, which may take long.
bool may_wait_for_key(const Options& options, bool has_environment_key) {
  std::error_code unknown;
  if (options.key_file) return !std::filesystem::is_regular_file(*options.key_file, unknown);
  return !has_environment_key && !options.shows_new_key;
}

Result<FoundKey> find_key_somewhere(const Options& options, std::optional<core::SecretText> environment_key) {
  std::optional<SignalsLetThrough> meanwhile;
  if (may_wait_for_key(options, environment_key.has_value())) meanwhile.emplace();
  return find_key(options, std::move(environment_key), ask_on_terminal);
}

/// A command line as it was understood.
struct Asked {
  const Command* command;            // the row of the table; null: none was found
  Result<std::unique_ptr<Job>> job;  // null: help is asked for
};

/// As a command line that begins with the words of a file.
Asked understand_configured(const Commands& commands, const std::string& path, const Words& more) {
  const auto text = read_trusted_file(path);
  if (!text) return {nullptr, tl::unexpected(text.error())};
  const auto file = Configuration::parse(*text, path);
  if (!file) return {nullptr, tl::unexpected(file.error())};
  const auto command = std::ranges::find_if(commands, [&](const Command& row) { return row.words == file->command(); });
  if (command == commands.end())
    return {nullptr, tl::unexpected(file->wrong_command(fmt::format("there is no command \"{}\"; see udtcat --help",
                                                                    fmt::join(file->command(), " "))))};
  Words words = file->words();
  words.insert(words.end(), more.begin(), more.end());
  auto job = command->parse(words);
  if (job) return {&*command, std::move(job)};
  return {&*command, tl::unexpected(file->blame(std::move(job.error()), [&](const Words& some) -> Status {
            UDTCAT_CHECK(command->parse(some));
            return {};
          }))};
}

Asked understand(const Commands& commands, Words arguments) {
  auto path = take_config_path(arguments);
  if (!path) return {nullptr, tl::unexpected(std::move(path.error()))};
  if (*path) return understand_configured(commands, **path, arguments);
  const Command& command = find_command(commands, arguments);
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(command.words.size()));
  return {&command, command.parse(arguments)};
}

/// Says what the job would do.  errors: those of its key and its files
Status tell(const Job& job, std::optional<core::SecretText> environment_key) {
  UDTCAT_TRY(Words facts, job.facts());
  for (std::string& fact : session_facts(job.options())) facts.push_back(std::move(fact));
  if (job.needs_key()) {
    UDTCAT_TRY(std::string key, key_fact(job.options(), std::move(environment_key)));
    facts.push_back(std::move(key));
  }
  std::string text;
  for (const std::string& fact : facts) text += fact + '\n';
  return print(text);
}

ExitStatus carry_out(const Asked& asked, const char* const* argv, const JobContext& context) {
  const auto fails = [&](const Error& error) {
    context.console.line("udtcat: " + error.message(), LineLevel::error);
    const bool has_own = asked.command != nullptr && asked.command->failure;
    return has_own ? *asked.command->failure : exit_status_of(error.code);
  };
  if (!asked.job) return fails(asked.job.error());
  if (*asked.job == nullptr) return printed(asked.command->help(), context.console);
  Job& job = **asked.job;
  if (!job.starts_programs()) forbid_core_dumps_for_good();
  const auto kind = job.options().transport.kind;
  if (auto status = become_program_with(kind, argv, context.core_limit_bytes); !status) return fails(status.error());
  // Only now it is sure that this is the program that needs the key. Programs that it starts never see it.
  auto environment_key = take_environment_key();
  install_stderr_log(context.console, job.options().verbosity);
  if (auto prepared = job.prepare(environment_key.has_value(), context.console); !prepared)
    return fails(prepared.error());
  if (job.options().check) {
    const Status told = tell(job, std::move(environment_key));
    return told ? ExitStatus::success : fails(told.error());
  }
  if (!job.needs_key()) return job.run({}, context);
  auto key = find_key_somewhere(job.options(), std::move(environment_key));
  if (!key) return fails(key.error());
  return job.run(std::move(*key), context);
}

}  // namespace

const Command& find_command(const Commands& commands, const Words& arguments) {
  const Command* found = nullptr;
  for (const Command& command : commands) {
    const Words& words = command.words;
    const bool begins = words.size() <= arguments.size() && std::equal(words.begin(), words.end(), arguments.begin());
    if (begins && (found == nullptr || words.size() > found->words.size())) found = &command;
  }
  UDTCAT_INVARIANT(found != nullptr, "one row has no words");
  return *found;
}

int run(int argc, const char* const* argv, const Commands& commands) {
  hold_signals();
  fill_standard_descriptors();
  const std::uint64_t core_limit_bytes = harden_process();
  // Static: threads of the library may log until the process ends.
  static Console console(STDERR_FILENO, is_journal(STDERR_FILENO));
  Words words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == kCompletionWord)
    return to_int(printed(completion(commands, {words.begin() + 1, words.end()}), console));
  auto asked = understand(commands, std::move(words));
  return to_int(carry_out(asked, argv, {console, core_limit_bytes}));
}

}  // namespace udtcat::tool
