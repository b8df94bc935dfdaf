// SPDX-License-Identifier: Apache-2.0
#include "tool/program/command.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <boost/system/system_error.hpp>

#include <udtcat/credentials.hpp>
#include <udtcat/endpoint.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/configuration.hpp"
#include "tool/cli/process_setup.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/cli/suggestion.hpp"
#include "tool/cli/terminal_prompt.hpp"
#include "tool/cli/user_files.hpp"
#include "tool/program/check_summary.hpp"
#include "tool/program/completion.hpp"
#include "tool/program/help_pages.hpp"
#include "tool/status/service_manager.hpp"

namespace udtcat::tool {

namespace {

/// The commands as users type them, and the first words of those with several.
Words names_of(const Commands& commands) {
  Words names;
  for (const Command& row : commands) {
    if (row.words.empty() || row.options == nullptr) continue;
    for (std::string name : {row.words.front(), fmt::format("{}", fmt::join(row.words, " "))})
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// Whether the key comes from a person or through a pipe, which may take long.
bool may_wait_for_key(const Options& options, const KeyCandidates& candidates) {
  std::error_code unknown;
  if (options.ticket.made || options.ticket.key) return false;
  if (const auto& file = file_of_key(options, candidates)) return !std::filesystem::is_regular_file(*file, unknown);
  return !candidates.environment && !options.shows_new_key;
}

Result<FoundCredentials> find_or_ask_for_credentials(const Options& options, KeyCandidates candidates) {
  std::optional<UnblockedSignals> meanwhile;
  if (may_wait_for_key(options, candidates)) meanwhile.emplace();
  return find_credentials(options, std::move(candidates), ask_on_terminal);
}

struct ParsedLine {
  const Command* command;                          // the row of the table; null: none was found
  Result<std::unique_ptr<Invocation>> invocation;  // null: `text`, or else the command's help, is asked for
  std::string text = {};
  std::string config = {};  // the file that it stands in; empty: it was typed
  LogFormat log_format = LogFormat::text;
  std::optional<std::string> key_beside_configuration = {};
};

ParsedLine wrong(Error error) { return {.command = nullptr, .invocation = tl::unexpected(std::move(error))}; }

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Parses a command line that begins with the words of a file.
ParsedLine understand_configured(const Commands& commands, const std::string& path, const Words& more) {
  const auto text = read_trusted_file(path);
  if (!text) return wrong(text.error());
  const auto file = Configuration::parse(*text, path);
  if (!file) return wrong(file.error());
  const Words words = with(file->words(), more);
  const auto command = std::ranges::find_if(commands, [&](const Command& row) { return row.words == file->command(); });
  if (command != commands.end())
    return {&*command, command->parse(words), {}, path, log_format_in(words), key_beside(path)};
  const std::string name = fmt::format("{}", fmt::join(file->command(), " "));
  ParsedLine unknown = wrong(
      {Errc::bad_argument, path,
       fmt::format("there is no command \"{}\"; see udtcat help{}", name, did_you_mean(name, names_of(commands)))});
  unknown.log_format = log_format_in(words);
  return unknown;
}

/// Refuses the user's file of options that earlier versions read.
Status refuse_options_of_user() {
  const auto path = user_file("config");
  std::error_code unknown;
  if (!path || !std::filesystem::exists(*path, unknown)) return {};
  return fail(
      Errc::bad_argument, path->string(),
      "it is not read any more: write its options on command lines, as by alias udtcat='udtcat --rate 400M', or "
      "into a file for --config, and remove it");
}

/// udtcat help [TOPIC], where a command is a topic too.
ParsedLine help_on(const Commands& commands, Words topic) {
  if (topic == Words{kPipeWord}) topic.clear();
  for (const Command& row : commands)
    if (row.words == topic) return {&row, nullptr, row.help()};
  const std::string name = fmt::format("{}", fmt::join(topic, " "));
  if (auto text = help_page(name)) return {nullptr, nullptr, std::move(*text)};
  return wrong({Errc::bad_argument, fmt::format("help \"{}\"", name),
                fmt::format("no such topic; they are {}, and each command, as in udtcat help gridftp get{}",
                            fmt::join(help_page_names(), ", "),
                            did_you_mean(name, with(names_of(commands), help_page_names())))});
}

/// A suggestion among words that begin command lines; netcat's users look for one that listens.
std::string meant_command(const std::string& typed, Words words) {
  words.emplace_back("listen");
  const std::string meant = did_you_mean(typed, words);
  return meant == "; did you mean listen?" ? "; did you mean -l, as in udtcat -l 9000?" : meant;
}

/// A suggestion for the first of `arguments`, where `error` is about it or about an unknown option behind it.
std::string meant_word(const Commands& commands, const Command& command, const Words& arguments, const Error& error) {
  const bool is_about_it =
      !arguments.empty() && (error.what.find('"' + arguments.front()) != std::string::npos ||
                             (!arguments.front().starts_with('-') && error.what.starts_with("option \"")));
  if (!is_about_it) return "";
  const std::size_t at = command.words.size();
  Words words;
  for (const Command& row : commands)
    if (row.words.size() > at && std::equal(command.words.begin(), command.words.end(), row.words.begin()) &&
        row.options != nullptr && std::ranges::find(words, row.words[at]) == words.end())
      words.push_back(row.words[at]);
  if (std::ranges::find(words, arguments.front()) != words.end()) return "";
  if (const std::string meant = meant_command(arguments.front(), words); !meant.empty()) return meant;
  const std::string option = "--" + arguments.front();
  for (const DeclaredOption& each : command.options != nullptr ? command.options() : DeclaredOptions())
    if (std::ranges::find(each.names, option) != each.names.end()) return "; did you mean " + option + "?";
  const bool is_address = arguments.front().find_first_not_of("0123456789") == std::string::npos ||
                          arguments.front().find_first_of(":@./") != std::string::npos;
  if (at > 0 || arguments.front().starts_with('-') || is_address) return "";
  return fmt::format("; the commands are {}", fmt::join(words, ", "));
}

/// Advice on a first word that names no command but another program or file of ours; empty: there is none.
std::string named_otherwise(const Command& pipe, const Words& arguments) {
  if (arguments.empty() || (arguments.size() > 1 && core::parse_number<std::uint16_t>(arguments[1]))) return "";
  const std::string& word = arguments.front();
  constexpr std::array<std::string_view, 6> kUnderUdr{"rsync", "scp", "sftp", "git", "borg", "restic"};  // spec: udr(1)
  const auto is = [&](const std::string& meant) {
    return fmt::format("; {} is not a command: did you mean {}?", word, meant);
  };
  if (std::ranges::find(kUnderUdr, word) != kUnderUdr.end()) return is("udr " + word + ", which runs it over udtcat");
  if (word == "listen" || word == "serve") return is("-l, as in udtcat -l 9000");
  if (word == "forward") return is("--from and --to, as in udtcat host 9000 --from 5432");
  if (word == "get" || word == "put") return is("udtcat gridftp " + word);
  for (const DeclaredOption& each : pipe.options())
    if (std::ranges::find(each.names, "--" + word) != each.names.end()) return is("--" + word);
  return "";
}

/// Whether the host may have no address yet: a forward waits for one.
bool is_forward(const Words& arguments) {
  return std::ranges::any_of(
      arguments, [](const std::string& each) { return each.starts_with("--from") || each.starts_with("--to"); });
}

/// A word before a port is a host; one that is found nowhere may be meant for a command, as in listn 9000.
Status check_host(const Commands& commands, const Options& options) {
  Words words;
  for (const Command& row : commands)
    if (row.options != nullptr && !row.words.empty()) words.push_back(row.words.front());
  const std::string meant = meant_command(options.peer.host, words);
  if (options.listens || meant.empty()) return {};
  const UnblockedSignals meanwhile;
  auto found = resolve(options.peer, options.family);
  if (found) return {};
  found.error().cause += meant;
  return tl::unexpected(std::move(found.error()));
}

ParsedLine understand(const Commands& commands, Words arguments) {
  if (arguments.empty()) return wrong({Errc::bad_argument, "", first_steps_text()});
  if (asks_for_help(arguments)) return help_on(commands, Words(arguments.begin() + 1, arguments.end()));
  auto path = take_config_path(arguments);
  if (!path) return wrong(std::move(path.error()));
  if (*path) return understand_configured(commands, **path, arguments);
  const Command& command = find_command(commands, arguments);
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(command.words.size()));
  ParsedLine line{&command, command.parse(arguments)};
  const bool has_session = command.options != nullptr && line.invocation && *line.invocation != nullptr &&
                           ((*line.invocation)->needs_key() || (*line.invocation)->starts_programs());
  if (const Status none = has_session ? refuse_options_of_user() : Status{}; !none)
    return {&command, tl::unexpected(none.error())};
  const bool is_pipe = command.words.empty() && !is_forward(arguments) && line.invocation &&
                       *line.invocation != nullptr && (*line.invocation)->needs_key();
  if (const Status found = is_pipe ? check_host(commands, (*line.invocation)->options()) : Status{}; !found)
    return {&command, tl::unexpected(found.error())};
  if (line.invocation) return line;
  const std::string named = command.words.empty() ? named_otherwise(command, arguments) : "";
  line.invocation.error().cause +=
      named.empty() ? meant_word(commands, command, arguments, line.invocation.error()) : named;
  return line;
}

/// Says what the invocation would do.  errors: those of its key and its files
Status tell(const Invocation& invocation, KeyCandidates candidates) {
  UDTCAT_TRY(Words lines, invocation.check_summary());
  UDTCAT_TRY(Words of_session, session_summary(invocation.options()));
  std::ranges::move(of_session, std::back_inserter(lines));
  if (invocation.needs_key()) {
    UDTCAT_TRY(std::string key, key_summary(invocation.options(), std::move(candidates)));
    lines.push_back(std::move(key));
  }
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return print(text);
}

ExitStatus carry_out(const ParsedLine& line, const Words& argv, const RunContext& context) {
  const auto fails = [&](Error error) {
    if (!line.config.empty() && error.code == Errc::bad_argument) error.what = line.config + ": " + error.what;
    const bool has_own = line.command != nullptr && line.command->failure;
    const ExitStatus status = has_own ? *line.command->failure : exit_status_of(error.code);
    context.console.event({.kind = EventKind::exit,
                           .severity = Severity::error,
                           .message = error.message(),
                           .result = error.message(),
                           .exit_status = to_int(status)});
    return status;
  };
  if (!line.invocation) {
    context.console.format_lines(line.log_format, {});
    return fails(line.invocation.error());
  }
  if (*line.invocation == nullptr)
    return printed(line.text.empty() ? line.command->help() : line.text, context.console);
  Invocation& invocation = **line.invocation;
  if (!invocation.starts_programs()) forbid_core_dumps_for_good();
  context.console.format_lines(invocation.options().log_format, invocation.options().name);
  if (invocation.options().listens) context.console.date_lines();
  const auto kind = invocation.options().transport.kind;
  if (auto status = exec_program_with(kind, argv, context.core_limit_bytes); !status) return fails(status.error());
  // After exec_program_with(), so that the program that needs the key takes it; programs that it starts never see it.
  KeyCandidates candidates{.environment = take_environment_key(),
                           .beside_configuration = line.key_beside_configuration};
  install_stderr_log(context.console, invocation.options().verbosity);
  if (auto prepared = invocation.prepare(candidates.any(), context.console); !prepared) return fails(prepared.error());
  if (invocation.options().check) {
    const Status told = tell(invocation, std::move(candidates));
    return told ? ExitStatus::success : fails(told.error());
  }
  // Asio throws where there are no descriptors for an event loop or its signals.
  try {
    if (!invocation.needs_key()) return invocation.run({}, context);
    auto found = find_or_ask_for_credentials(invocation.options(), std::move(candidates));
    if (!found) return fails(found.error());
    if (!found->doubt.empty()) core::log().warn("{}", found->doubt);
    if (!found->generated && !found->where.empty()) core::log().info("the key is {}", key_in_words(*found));
    return invocation.run(std::move(*found), context);
  } catch (const boost::system::system_error& error) {
    return fails({Errc::out_of_resources, "make an event loop", core::errno_text(error.code().value())});
  }
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

int run(const Words& argv, const Commands& commands) {
  block_signals();
  fill_standard_descriptors();
  const std::uint64_t core_limit_bytes = harden_process();
  use_no_modules_of_the_host();
  ignore_crypto_configuration();
  // Static: threads of the library may log until the process ends.
  static Console console(STDERR_FILENO, is_journal(STDERR_FILENO));
  Words words(argv.begin() + std::min<std::ptrdiff_t>(std::ssize(argv), 1), argv.end());
  if (!words.empty() && words.front() == kCompletionWord)
    return to_int(printed(completion(commands, {words.begin() + 1, words.end()}), console));
  const LogFormat typed = log_format_in(words);
  auto line = understand(commands, std::move(words));
  if (typed != LogFormat::text) line.log_format = typed;
  return to_int(carry_out(line, argv, {console, core_limit_bytes}));
}

}  // namespace udtcat::tool
