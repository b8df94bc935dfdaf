// SPDX-License-Identifier: Apache-2.0
/// A command line: which options a command knows, what their values may be, and what becomes of them. An option that a
/// command does not know is an error; every error names the option, the value and what is allowed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/try.hpp"
#include "tool/cli/suggestion.hpp"

namespace udtcat::tool {

using Words = std::vector<std::string>;

/// An option as its command declares it.
struct DeclaredOption {
  Words names;  ///< "-k", "--key-file"
  bool takes_value = false;
  Words choices{};      ///< the values that are allowed, or ":file" and the like; empty: other than a few words
  bool offered = true;  ///< false: known only to be refused, or to be handed on
};
using DeclaredOptions = std::vector<DeclaredOption>;

/// The options of one command. Declare them, then read() a command line: each value goes where its option says.
/// The last value of an option that is written twice counts.
/// Threads: unsynchronised.
class CommandLine {
 public:
  using Setter = std::function<Status(const std::string& value)>;
  using Check = std::function<Status()>;

  /// command   as the user writes it: "udtcat gridftp get"
  explicit CommandLine(std::string command);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  /// An option with a value.  names   as CLI11 has them: "-k,--key-file"
  void value(const char* names, Setter set);
  void value(const char* names, std::string& into);
  void value(const char* names, std::optional<std::string>& into);
  /// An option whose value is one of `choices`: `set` is given no other.
  void choice(const char* name, Words choices, Setter set);
  /// The kind of the last option's value, for completion(): ":file", ":directory", ":host" or ":command".
  void value_is(const char* kind);
  /// One whose value is the name of one of `all`, which `parse` knows.
  template <typename Value, typename Parse, typename Target>
  void choice(const char* name, Parse parse, std::initializer_list<Value> all, Target& into) {
    Words names;
    for (const Value value : all) names.push_back(fmt::format("{}", to_string(value)));
    choice(name, std::move(names), [parse, &into](const std::string& text) -> Status {
      if (const std::optional<Value> value = parse(text)) into = *value;
      return {};
    });
  }
  /// An option that may be written several times: `set` is called for each.
  void values(const char* names, Setter set);
  /// A flag without a variable: ask has(). --flag=false is refused.
  void flag(const char* names);
  void flag(const char* names, bool& into);
  /// A flag like --help: where it is written, the values of other options are not stored.
  void question(const char* names, bool& into);
  /// A flag that may be written several times.
  void count(const char* names, int& into);
  /// An option with a value that would have no effect in this command: writing it is an error, which says `why`.
  void refuse(const char* name, const char* why);
  /// `one` and `other` cannot both be written.
  void exclusive(const char* one, const char* other);
  /// Adds a check. The checks run after all values are stored, in the order of these calls.
  void check(Check check);

  /// `words` without the program and the command.
  /// errors: Errc::bad_argument for an option that is unknown or lacks its value, and those of the options and checks
  [[nodiscard]] Status read(const Words& words);

  // After read():
  [[nodiscard]] bool wants_help() const { return help_; }
  [[nodiscard]] const Words& operands() const { return operands_; }
  [[nodiscard]] bool has(const char* name) const;
  /// The value as it was written; none: the option was not.
  [[nodiscard]] std::optional<std::string> text(const char* name) const;
  /// The options in the order of their declaration; also before read().
  [[nodiscard]] DeclaredOptions declared() const;
  /// The options that were written, by their longest names.
  [[nodiscard]] Words written() const;

  /// The error of an unknown option; it suggests the most similar one that the command has.
  [[nodiscard]] tl::unexpected<Error> unknown(const std::string& word) const;

  /// The command and its words, as a shell would take them.
  [[nodiscard]] std::string as_typed() const { return typed_; }

  /// Whether `name` ("--rate") is an option, and whether a value follows it; none: it is not. Also before read().
  [[nodiscard]] std::optional<bool> takes_value(const std::string& name) const;

 private:
  struct Parser;

  [[nodiscard]] bool names_option(const std::string& word) const;
  [[nodiscard]] Status split(const Words& words);

  const std::string command_;
  const std::unique_ptr<Parser> parser_;
  std::vector<Check> checks_;
  std::vector<const bool*> questions_;
  Words operands_;
  std::string typed_;
  bool help_ = false;
};

inline constexpr std::size_t kMaxServiceNameBytes = 255;  // spec: systemd.unit(5)

/// The error of an option where it does not belong, or without another that it needs.
[[nodiscard]] inline tl::unexpected<Error> misplaced(std::string option, std::string why) {
  return fail(Errc::bad_argument, std::move(option), std::move(why));
}

[[nodiscard]] inline tl::unexpected<Error> bad_value(std::string_view option, std::string_view value,
                                                     std::string allowed) {
  return fail(Errc::bad_argument, fmt::format("{} \"{}\"", option, value), "allowed: " + std::move(allowed));
}

template <typename Value, typename Target>
[[nodiscard]] Status store(Result<Value> value, Target& target) {
  UDTCAT_TRY(target, std::move(value));
  return {};
}

[[nodiscard]] Result<std::size_t> number_value(std::string_view option, const std::string& text, std::size_t least,
                                               std::size_t most);
[[nodiscard]] Result<std::size_t> size_value(std::string_view option, const std::string& text, std::size_t least,
                                             std::size_t most);
[[nodiscard]] Result<std::chrono::milliseconds> duration_value(std::string_view option, const std::string& text,
                                                               std::chrono::milliseconds least);
/// The name of an end: see is_end_name().
[[nodiscard]] Result<std::string> end_name_value(std::string_view option, const std::string& text);
/// The name of a service: kMaxServiceNameBytes of letters, digits and "._:@-" and backslash, as any instance of a unit
/// has.  spec: systemd.unit(5)
[[nodiscard]] Result<std::string> service_name_value(std::string_view option, const std::string& text);
/// "[ADDR:]PORT", where port 0 lets the system choose.
[[nodiscard]] Result<HostPort> local_address_value(std::string_view option, const std::string& text);
[[nodiscard]] Result<HostPort> remote_address_value(std::string_view option, const std::string& text);
[[nodiscard]] Result<HostPort> host_and_port(const std::string& host, const std::string& port);

/// The options that `declare` gives to a command.
template <typename CommandOptions>
[[nodiscard]] DeclaredOptions declared_by(void (*declare)(CommandLine&, CommandOptions&)) {
  CommandOptions unused;
  CommandLine line("");
  declare(line, unused);
  return line.declared();
}

}  // namespace udtcat::tool
