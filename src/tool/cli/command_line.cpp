// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/command_line.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <span>

#include <CLI/CLI.hpp>

#include <udtcat/options.hpp>
#include <udtcat/units.hpp>

#include "lib/core/text.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/key_hiding.hpp"
#include "tool/cli/shell_words.hpp"

namespace udtcat::tool {

namespace {

std::string size_text(std::size_t bytes) {
  if (bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  return bytes % kMiB == 0 ? fmt::format("{}MiB", bytes / kMiB) : fmt::format("{}KiB", bytes / kKiB);
}

std::string seconds_text(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{}s", time.count() / 1000) : fmt::format("{}ms", time.count());
}

constexpr std::size_t kMaxPort = std::numeric_limits<std::uint16_t>::max();

/// Rewords CLI11's "--lanes: 1 required TEXT missing" and "progress was given a disallowed flag override".
tl::unexpected<Error> malformed(const std::string& text) {
  if (const auto denied = text.find(" was given a disallowed"); denied != std::string::npos)
    return fail(Errc::bad_argument, "option --" + text.substr(0, denied), "has no value");
  const auto colon = text.find(':');
  if (text.starts_with("-") && colon != std::string::npos)
    return fail(Errc::bad_argument, "option " + text.substr(0, colon), "needs a value");
  return fail(Errc::bad_argument, "command line", text);
}

}  // namespace

struct CommandLine::Parser {
  struct ValueOption {
    CLI::Option* option = nullptr;
    std::vector<std::string> texts{};  // as they were written
    Setter set{};
    bool repeats = false;
    Words choices{};
    bool offered = true;

    /// The values that count: all of a repeatable option, else the last.
    [[nodiscard]] std::span<const std::string> taken() const {
      return std::span(texts).last(repeats ? texts.size() : std::min<std::size_t>(texts.size(), 1));
    }
  };
  CLI::App app;
  std::list<ValueOption> value_options;  // a list: CLI11 keeps the address of `texts`
};

CommandLine::CommandLine(std::string command) : command_(std::move(command)), parser_(std::make_unique<Parser>()) {
  parser_->app.set_help_flag();
  question("-h,--help", help_);
}

CommandLine::~CommandLine() = default;

void CommandLine::value(const char* names, Setter set) {
  values(names, std::move(set));
  parser_->value_options.back().repeats = false;
}

void CommandLine::values(const char* names, Setter set) {
  auto& value_options = parser_->value_options.emplace_back();
  // One word each: what follows is an operand.
  value_options.option = parser_->app.add_option(names, value_options.texts)->allow_extra_args(false);
  value_options.set = std::move(set);
  value_options.repeats = true;
}

void CommandLine::choice(const char* name, Words choices, Setter set) {
  value(name, [name, choices, set = std::move(set)](const std::string& text) -> Status {
    if (std::ranges::find(choices, text) != choices.end()) return set(text);
    return bad_value(name, text, fmt::format("{}{}", fmt::join(choices, ", "), did_you_mean(text, choices)));
  });
  parser_->value_options.back().choices = std::move(choices);
}

void CommandLine::value(const char* names, std::string& into) {
  value(names, [&into](const std::string& text) { return store(Result<std::string>(text), into); });
}

void CommandLine::value(const char* names, std::optional<std::string>& into) {
  value(names, [&into](const std::string& text) { return store(Result<std::string>(text), into); });
}

void CommandLine::value_is(const char* kind) { parser_->value_options.back().choices = {kind}; }

void CommandLine::flag(const char* names) { parser_->app.add_flag(names)->disable_flag_override(); }
void CommandLine::flag(const char* names, bool& into) { parser_->app.add_flag(names, into); }
void CommandLine::question(const char* names, bool& into) {
  flag(names, into);
  questions_.push_back(&into);
}
void CommandLine::count(const char* names, int& into) { parser_->app.add_flag(names, into); }

void CommandLine::refuse(const char* name, const char* why) {
  value(name,
        [this, name, why](const std::string&) { return misplaced(fmt::format("{} and {}", name, command_), why); });
  parser_->value_options.back().offered = false;
}

void CommandLine::exclusive(const char* one, const char* other) {
  check([this, one, other]() -> Status {
    if (has(one) && has(other)) return misplaced(fmt::format("{} and {}", one, other), "allowed: one of the two");
    return {};
  });
}

void CommandLine::check(Check check) { checks_.push_back(std::move(check)); }

bool CommandLine::names_option(const std::string& word) const {
  return word.starts_with('-') && takes_value(word.substr(0, word.find('='))).has_value();
}

Status CommandLine::split(const Words& words) {
  // CLI11 would take an option for the value of one that lacks it.
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i)
    if (takes_value(words[i]) == true && names_option(words[i + 1]))
      return misplaced("option " + words[i], "needs a value");
  parser_->app.add_option("operands", operands_);
  try {
    // CLI11 takes the words from the last to the first.
    parser_->app.parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::ExtrasError&) {
    return unknown(parser_->app.remaining().front());
  } catch (const CLI::ParseError& error) {
    return malformed(error.what());
  }
  // CLI11 takes "-6" for a number, and so for an operand, where there is no such option.
  const bool has_dashes = std::find(words.begin(), words.end(), "--") != words.end();
  for (const std::string& word : operands_)
    if (!has_dashes && word.size() > 1 && word.starts_with('-')) return unknown(word);
  return {};
}

tl::unexpected<Error> CommandLine::unknown(const std::string& word) const {
  Words names;
  for (const CLI::Option* option : parser_->app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  // As netcat has it: -lp 9000.
  const bool is_port = word.starts_with('-') && !word.starts_with("--") && word.find('p') != std::string::npos &&
                       names_option("-l") && typed_.find(" -l") != std::string::npos;
  return misplaced("option \"" + word + "\"",
                   fmt::format("unknown to {0}; see {0} --help{1}", command_,
                               is_port ? fmt::format("; the port follows -l itself, as in {} -l 9000", command_)
                                       : did_you_mean(word.substr(0, word.find('=')), names)));
}

Status CommandLine::read(const Words& words) {
  typed_ = command_;
  for (const std::string& word : words) typed_ += ' ' + quoted(without_keys(word));
  UDTCAT_CHECK(split(words));
  for (const bool* question : questions_)
    if (*question) return {};
  for (const Parser::ValueOption& each : parser_->value_options)
    for (const std::string& text : each.taken()) UDTCAT_CHECK(each.set(text));
  for (const Check& check : checks_) UDTCAT_CHECK(check());
  return {};
}

bool CommandLine::has(const char* name) const {
  const CLI::Option* option = parser_->app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

std::optional<std::string> CommandLine::text(const char* name) const {
  for (const Parser::ValueOption& each : parser_->value_options)
    if (each.option->check_name(name) && each.option->count() > 0) return each.texts.back();
  return std::nullopt;
}

DeclaredOptions CommandLine::declared() const {
  DeclaredOptions all;
  for (const CLI::Option* option : parser_->app.get_options()) {
    if (!option->nonpositional()) continue;
    DeclaredOption declared{.names = {}, .takes_value = option->get_items_expected_max() > 0};
    for (const std::string& name : option->get_snames()) declared.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) declared.names.push_back("--" + name);
    const auto value_options = std::ranges::find(parser_->value_options, option, &Parser::ValueOption::option);
    if (value_options != parser_->value_options.end()) {
      declared.choices = value_options->choices;
      declared.offered = value_options->offered;
    }
    all.push_back(std::move(declared));
  }
  return all;
}

Words CommandLine::written() const {
  Words names;
  for (const CLI::Option* option : parser_->app.get_options())
    if (option->count() > 0 && option->nonpositional()) names.push_back(option->get_name());
  return names;
}

std::optional<bool> CommandLine::takes_value(const std::string& name) const {
  const CLI::Option* option = parser_->app.get_option_no_throw(name);
  if (option == nullptr) return std::nullopt;
  return option->get_items_expected_max() > 0;
}

Result<std::size_t> number_value(std::string_view option, const std::string& text, std::size_t least,
                                 std::size_t most) {
  const auto number = core::parse_number<std::size_t>(text);
  if (number && *number >= least && *number <= most) return *number;
  return bad_value(option, text, fmt::format("{} to {}", least, most));
}

Result<std::size_t> size_value(std::string_view option, const std::string& text, std::size_t least, std::size_t most) {
  const auto size = core::parse_size(text);
  if (size && *size >= least && *size <= most) return static_cast<std::size_t>(*size);
  return bad_value(option, text,
                   fmt::format("{} to {}, written in bytes or with kB, MB, GB, KiB, MiB or GiB, as in 1.5GB",
                               size_text(least), size_text(most)));
}

Result<std::chrono::milliseconds> duration_value(std::string_view option, const std::string& text,
                                                 std::chrono::milliseconds least) {
  const auto time = core::parse_duration(text);
  if (time && *time >= least) return *time;
  return bad_value(
      option, text,
      fmt::format("{} or more, up to 365 days, written in seconds or with ms, s or m", seconds_text(least)));
}

Result<std::string> end_name_value(std::string_view option, const std::string& text) {
  if (is_end_name(text)) return text;
  return bad_value(option, text, fmt::format("1 to {} printable characters without white space", kMaxEndNameBytes));
}

Result<std::string> service_name_value(std::string_view option, const std::string& text) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@\\-";
  const bool fits = !text.empty() && text.size() <= kMaxServiceNameBytes;
  if (fits && text.find_first_not_of(kAllowed) == std::string::npos) return text;
  return bad_value(option, text, fmt::format("1 to {} letters, digits and ._:@-\\", kMaxServiceNameBytes));
}

Result<HostPort> local_address_value(std::string_view option, const std::string& text) {
  auto address = parse_local(text);
  if (!address) return bad_value(option, text, "[ADDR:]PORT, as in 9000, 192.0.2.1:9000 or [::1]:9000");
  return address;
}

namespace {

/// The mistake in `text`, which is no HOST:PORT.
const char* wrong_in(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return "; a port is missing";
  if (colon == 0) return "; a host is missing";
  if (text.find(':') != colon && !text.starts_with('[')) return "; an IPv6 address goes in brackets, as in [::1]:9000";
  return "; a port is a number, 1 to 65535";
}

/// USER@HOST is an error: the key identifies the peer, there is no login.
Result<HostPort> without_user(HostPort address) {
  const auto at = address.host.rfind('@');
  if (at == std::string::npos) return address;
  const std::string host = address.host.substr(at + 1);
  return bad_value("HOST", address.host,
                   host.empty()
                       ? "a name or an address; a host is missing behind the @"
                       : fmt::format("a name or an address, as in {} {}; USER@ is for ssh only", host, address.port));
}

}  // namespace

Result<HostPort> remote_address_value(std::string_view option, const std::string& text) {
  auto address = parse_peer(text);
  if (!address || address->port == 0)
    return bad_value(option, text, fmt::format("HOST:PORT, as in localhost:80 or [::1]:80{}", wrong_in(text)));
  return without_user(std::move(*address));
}

Result<HostPort> host_and_port(const std::string& host, const std::string& port) {
  const auto number = core::parse_number<std::size_t>(port);
  if (!number || *number == 0 || *number > kMaxPort) return bad_value("PORT", port, fmt::format("1 to {}", kMaxPort));
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string name = bracketed ? host.substr(1, host.size() - 2) : host;
  if (name.empty() || name == "*") return bad_value("HOST", host, "a name or an address");
  return without_user({name, static_cast<std::uint16_t>(*number)});
}

}  // namespace udtcat::tool
