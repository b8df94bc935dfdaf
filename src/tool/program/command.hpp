// SPDX-License-Identifier: Apache-2.0
/// The program but for main(): run() carries out one of its commands, a table to which each module gives rows
/// (src/main.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/try.hpp"
#include "tool/cli/command_line.hpp"
#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"
#include "tool/cli/options.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::tool {

/// The arguments of Invocation::run() besides the credentials.
struct RunContext {
  Console& console;
  std::uint64_t core_limit_bytes;  ///< of programs that it starts
};

/// A command line that was parsed. run() calls these in this order.
/// Threads: confined to the main thread.
class Invocation {
 public:
  Invocation() = default;
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;
  virtual ~Invocation() = default;

  [[nodiscard]] virtual const Options& options() const = 0;
  /// Whether core dumps must be possible again, in the programs that it starts.
  [[nodiscard]] virtual bool starts_programs() const { return false; }
  /// Makes the decisions that depend on whether there is a key, and warns the user before one is asked for.
  /// has_key_candidate   the KeyCandidates have one; whether an option names one, options() says
  [[nodiscard]] virtual Status prepare(bool /*has_key_candidate*/, Console& /*console*/) { return {}; }
  [[nodiscard]] virtual bool needs_key() const { return true; }
  /// For --check: the sentences about this command, before those of session_summary().
  /// errors: those of the files that it would read
  [[nodiscard]] virtual Result<Words> check_summary() const { return Words{}; }
  /// Runs to its end and gives the exit status.  found   empty where it needs no key
  [[nodiscard]] virtual ExitStatus run(FoundCredentials found, const RunContext& context) = 0;
};

/// An Invocation by options that derive from Options.
template <typename CommandOptions>
class OptionsInvocation : public Invocation {
 public:
  explicit OptionsInvocation(CommandOptions options) : options_(std::move(options)) {}
  [[nodiscard]] const Options& options() const final { return options_; }

 protected:
  CommandOptions options_;
};

/// The Command::parse of an OptionsInvocation.
template <typename Invoked, auto kParseOptions>
Result<std::unique_ptr<Invocation>> parse_as(const Words& arguments) {
  UDTCAT_TRY(auto options, kParseOptions(arguments));
  if (options.help) return nullptr;
  return std::make_unique<Invoked>(std::move(options));
}

struct Command {
  Words words;            ///< the beginning of its command line: {"gridftp", "get"}
  std::string (*help)();  ///< the text of --help
  /// `arguments`: without `words`.  returns: null where help is asked for.  errors: Errc::bad_argument
  Result<std::unique_ptr<Invocation>> (*parse)(const Words& arguments);
  /// The options that it declares, for completion(); none: users do not run it.
  DeclaredOptions (*options)() = nullptr;
  const char* operands = "";  ///< likewise, as ":file... :host": the first may repeat, "-" is another thing
  /// The status of every failure before the invocation runs; none: the error's own
  std::optional<ExitStatus> failure = {};
};

using Commands = std::vector<Command>;

/// The row with the most words of those whose words begin `arguments`.
[[nodiscard]] const Command& find_command(const Commands& commands, const Words& arguments);

/// Carries out the row of `commands` with the most words that begin the command line, which may stand in the file of
/// --config. Says what the commands are where nothing, or `help`, is asked for.
/// returns  the exit status; see exit_status.hpp
[[nodiscard]] int run(const Words& argv, const Commands& commands);

}  // namespace udtcat::tool
