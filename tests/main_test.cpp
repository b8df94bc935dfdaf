// SPDX-License-Identifier: Apache-2.0
/// The program, src: the table of commands (the commands.cpp of each module). Each option
/// is known to the commands in which it acts, stands in their help, their page and their completion, and is refused by
/// all others.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/commands.hpp"
#include "gridftp/command/commands.hpp"
#include "meet/commands.hpp"
#include "pipe/commands.hpp"
#include "pipe/pipe_options.hpp"
#include "rsh/command/commands.hpp"
#include "tool/support/man_page.hpp"
#include "trees/command/commands.hpp"

namespace udtcat {
namespace {

using testing::HasSubstr;
using tool::Words;
using Names = std::set<std::string>;

/// A command line of each command that is right without options.
const std::map<std::string, Words> kCommandLines{
    {"", {"h", "1"}},
    {"rsh", {"h", "true"}},
    {"rsh-server", {}},
    {"trees-server", {}},
    {"bench", {"h", "1"}},
    {"meet", {"-l", "1"}},
    {"send", {"path", "h", "1"}},
    {"receive", {"h", "1"}},
    {"verify", {"manifest"}},
    {"gridftp get", {"ftp://h/f", "/tmp/f"}},
    {"gridftp put", {"/tmp/f", "ftp://h/f"}},
    {"gridftp copy", {"ftp://h/f", "ftp://g/f"}},
    {"gridftp serve", {"--root", "/tmp"}},
    {"gridftp gateway", {"h", "1", "--from", "2"}},
};

const Names kClients{"gridftp get", "gridftp put", "gridftp copy"};
const Names kGridftp{"gridftp get", "gridftp put", "gridftp copy", "gridftp serve", "gridftp gateway"};
const Names kTrees{"send", "receive"};
const Names kListeners{"", "send", "receive", "gridftp serve", "gridftp gateway"};

Names and_also(Names names, const Names& more) {
  names.insert(more.begin(), more.end());
  return names;
}
/// Which ssh starts, and no user.
const Names kFarEnds{"rsh-server", "trees-server"};
const Names kAll = and_also(and_also({"", "rsh", "bench", "send", "receive"}, kGridftp), kFarEnds);
const Names kLogging = and_also(kAll, {"verify", "meet"});
const Names kKeyed = and_also({"", "bench", "send", "receive"}, kGridftp);
const Names kDialling = and_also({"", "rsh", "bench", "send", "receive"}, kGridftp);
const Names kWatched = and_also(kDialling, {"verify", "meet"});
const Names kChecked = and_also(kListeners, {"bench", "meet"});
const Names kBySsh{"rsh", "bench", "send", "receive"};

struct Option {
  std::string name;
  std::string value;  ///< empty: a flag
  Names commands;     ///< that know it
};
const std::vector<Option> kOptions{
    {"--protect", "safe", kAll},
    {"--cipher", "aes-256-gcm", kAll},
    {"--block", "64KiB", kAll},
    {"--lanes", "2", kAll},
    {"--threads", "2", kAll},
    {"--flows", "2", kAll},
    {"--bind",
     "127.0.0.1",
     {"", "rsh", "bench", "send", "receive", "gridftp get", "gridftp put", "gridftp copy", "gridftp gateway"}},
    {"--transport", "native", kAll},
    {"--no-tcp", "", kAll},
    {"--proxy", "none", kAll},
    {"--congestion", "bbr", kAll},
    {"--offload", "off", kAll},
    {"--memory", "1MiB", kAll},
    {"--idle-timeout", "5s", and_also(kAll, {"meet"})},
    {"--verbose", "", kLogging},
    {"--quiet", "", kLogging},
    {"--stats", "json", kLogging},
    {"--name", "db", kLogging},
    {"--metrics", "9109", kLogging},
    {"--status-group", "adm", kLogging},
    {"--log-format", "json", kLogging},
    {"--check", "", kChecked},
    {"--config", "f", {""}},
    {"--rate",
     "1M",
     {"", "rsh", "rsh-server", "trees-server", "bench", "meet", "send", "gridftp put", "gridftp serve",
      "gridftp gateway"}},
    {"--key-file", "f", and_also(kKeyed, {"meet"})},
    {"--public", "", {"meet"}},
    {"--pairs", "9", {"meet"}},
    {"--registrations", "9", {"meet"}},
    {"--pair-rate", "1M", {"meet"}},
    {"--as", "a", kKeyed},
    {"--peer", "b", kKeyed},
    {"--connect-timeout", "1s", kDialling},
    {"--progress", "", kWatched},
    {"--no-progress", "", kWatched},
    {"--accept-timeout", "1s", {"", "rsh-server", "trees-server", "send", "receive"}},
    {"--listen", "", and_also(kListeners, {"meet"})},
    {"-4", "", kChecked},
    {"-6", "", kChecked},
    {"--to", "h:1", {"", "gridftp gateway"}},
    {"--from", "1", {"", "gridftp gateway"}},
    {"--exec", "true", {""}},
    {"--size", "3GB", {""}},
    {"--plain", "", {""}},
    {"--send-only", "", {""}},
    {"--recv-only", "", {""}},
    {"--version", "", {""}},
    {"--port", "1", {"rsh", "rsh-server", "trees-server", "bench", "send", "receive"}},
    {"--udp-host", "h", kBySsh},
    {"--remote-udtcat", "p", kBySsh},
    {"--ssh", "s", kBySsh},
    {"--require-udp", "", {"rsh", "send", "receive"}},
    {"--push", "", kBySsh},
    {"--serve", "d", {"send"}},
    {"--files-from", "f", {"send"}},
    {"--into", "d", {"receive", "trees-server"}},
    {"--limit", "1GB", {"receive"}},
    {"--owner", "", kTrees},
    {"--manifest", "f", kTrees},
    {"--bench", "", {"rsh-server"}},
    {"--seconds", "1", {"bench"}},
    {"--json", "", {"bench"}},
    {"--parallelism", "2", kClients},
    {"--stripes", "2", kClients},
    {"--range", "0-1", kClients},
    {"--over", "tcp", kClients},
    {"--retries", "1", kClients},
    {"--clear-control", "", kClients},
    {"--root", "/tmp", {"gridftp serve"}},
    {"--read-only", "", {"gridftp serve"}},
    {"--auth", "key", {"gridftp serve"}},
    {"--anonymous-writable", "", {"gridftp serve"}},
    {"--third-party", "", {"gridftp serve"}},
};

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// By their words.
const std::map<std::string, tool::Command>& commands() {
  static const auto all = [] {
    std::map<std::string, tool::Command> found;
    for (const auto& module : {pipe::commands(), bench::commands(), meet::commands(), rsh::commands(),
                               trees::commands(), gridftp::commands()})
      for (const tool::Command& command : module) found.emplace(joined(command.words), command);
    return found;
  }();
  return all;
}

/// The complaint of a command about an option; none: it takes it.
std::string complaint(const std::string& name, Words words, const Option& option) {
  if (!option.value.empty()) words.insert(words.begin(), option.value);
  words.insert(words.begin(), option.name);
  const auto job = commands().at(name).parse(words);
  return job ? "" : job.error().message();
}

TEST(Options, AreKnownWhereTheyActAndRefusedElsewhere) {
  for (const Option& option : kOptions) {
    for (const auto& [name, line] : kCommandLines) {
      if (name == "rsh" && !option.name.starts_with("--")) continue;  // ssh's
      const std::string said = complaint(name, line, option);
      if (option.commands.contains(name)) {
        EXPECT_THAT(said, testing::Not(HasSubstr("unknown to"))) << "udtcat " << name << " " << option.name;
      } else {
        EXPECT_THAT(said, HasSubstr(option.name)) << "udtcat " << name;
        EXPECT_THAT(said, HasSubstr(name.empty() ? "unknown to udtcat;" : "udtcat " + name)) << option.name;
      }
    }
  }
}

/// Of each command that users run: `check` is called with each option that it declares for them.
template <typename Check>
void for_each_option(Check check) {
  for (const auto& [name, command] : commands())
    for (const tool::DeclaredOption& option : command.options != nullptr ? command.options() : tool::DeclaredOptions())
      if (option.offered && option.names.back() != "--help") check(name, command, option.names.back());
}

TEST(Options, StandInTheHelpOfTheirCommand) {
  for_each_option([](const std::string& name, const tool::Command& command, const std::string& option) {
    const bool short_form_suffices = option == "--listen" || option == "--verbose";
    EXPECT_THAT(command.help(), HasSubstr(short_form_suffices ? option.substr(1, 2) : option)) << "udtcat " << name;
  });
}

/// A page, and the options that it has to explain.
struct Documented {
  std::string command;
  std::string page;
  tool::DeclaredOptions options;
};

/// A row for each command that users run, and for the forms of a pipe that have pages of their own.
std::vector<Documented> documented() {
  static const std::map<std::string, std::string> kPages{{"", "udtcat.1"},
                                                         {"keygen", "udtcat-keygen.1"},
                                                         {"status", "udtcat-status.1"},
                                                         {"bench", "udtcat-bench.1"},
                                                         {"meet", "udtcat-meet.1"},
                                                         {"rsh", "udtcat-rsh.1"},
                                                         {"send", "udtcat-send.1"},
                                                         {"receive", "udtcat-send.1"},
                                                         {"verify", "udtcat-send.1"},
                                                         {"gridftp", "udtcat-gridftp.1"}};
  std::vector<Documented> all{{"--to and --from", "udtcat-forward.1", pipe::forward_options_declared()}};
  for (const auto& [name, command] : commands())
    if (command.options != nullptr)
      all.push_back({name, kPages.at(command.words.empty() ? "" : command.words.front()), command.options()});
  return all;
}

/// The options that a reader of `page` finds: its own, the common ones, and all those of pages that its OPTIONS name.
Names options_to_be_found(const tool::Manual& manual, const std::string& page) {
  const auto own = manual.at(page).section("OPTIONS");
  Names found = and_also(own.options, manual.at(page).section("COMMON OPTIONS").options);
  for (const std::string& other : own.references) {
    if (!manual.contains(other)) continue;
    const auto common = manual.at(other).section("COMMON OPTIONS").options;
    found = and_also(std::move(found), common.empty() ? manual.at(other).section("OPTIONS").options : common);
  }
  return found;
}

Names undocumented(const tool::Manual& manual, const Documented& each) {
  const Names found = options_to_be_found(manual, each.page);
  Names missing;
  for (const tool::DeclaredOption& option : each.options)
    for (const std::string& name : option.names)
      if (option.offered && !found.contains(name)) missing.insert(name);
  return missing;
}

TEST(ManPages, HaveEachOptionOfTheirCommands) {
  const tool::Manual manual = tool::read_manual();
  for (const Documented& each : documented())
    EXPECT_THAT(undocumented(manual, each), testing::IsEmpty()) << "udtcat " << each.command << ": " << each.page;
}

TEST(ManPages, HaveNoOptionThatTheirCommandsDoNotTake) {
  const tool::Manual manual = tool::read_manual();
  const Names kOfAll{"-h", "--help", "--pair"};  // --pair: a word of the command `keygen --pair`
  std::map<std::string, Names> known;
  Names common;
  for (const Documented& each : documented())
    for (const tool::DeclaredOption& option : each.options) {
      known[each.page].insert(option.names.begin(), option.names.end());
      common.insert(option.names.begin(), option.names.end());
    }
  const auto unknown = [&](const Names& taken, const tool::ManPage::Section& section) {
    Names left;
    std::ranges::set_difference(section.options, and_also(taken, kOfAll), std::inserter(left, left.end()));
    return left;
  };
  for (const auto& [page, taken] : known) {
    EXPECT_THAT(unknown(taken, manual.at(page).section("OPTIONS")), testing::IsEmpty()) << page;
    EXPECT_THAT(unknown(common, manual.at(page).section("COMMON OPTIONS")), testing::IsEmpty()) << page;
  }
}

TEST(ManPages, AreReadByOptionAndReference) {
  const tool::Manual manual{
      {"udtcat.1", tool::ManPage(".Sh OPTIONS\n.It Fl -exec Ar command\n.Sh COMMON OPTIONS\n.It Fl v , -verbose\n")},
      {"udtcat-plain.1", tool::ManPage(".Sh OPTIONS\n.It Fl -plain\n")},
      {"udtcat-forward.1", tool::ManPage(".Sh OPTIONS\nThose of\n.Xr udtcat 1 .\n.It Fl -to Ar service , Fl -from\n"
                                         ".Sh SEE ALSO\n.Xr udtcat-plain 1\n")}};
  const auto missing = [&](const tool::Words& names) {
    return undocumented(manual, {.command = {}, .page = "udtcat-forward.1", .options = {{.names = names}}});
  };
  EXPECT_THAT(missing({"--to"}), testing::IsEmpty());
  EXPECT_THAT(missing({"--from"}), testing::IsEmpty());
  EXPECT_THAT(missing({"-v", "--verbose"}), testing::IsEmpty()) << "common, in a page to which this one refers";
  EXPECT_THAT(missing({"--exec"}), testing::ElementsAre("--exec")) << "of a pipe alone";
  EXPECT_THAT(missing({"--plain"}), testing::ElementsAre("--plain")) << "in a page to which OPTIONS do not refer";
}

TEST(Help, FitsATerminalOfAHundredAndTwentyColumns) {
  for (const auto& [name, command] : commands()) {
    std::istringstream lines(command.help());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
  }
}

TEST(Gridftp, NamesItsVerbsWhereNoneComesFirst) {
  for (const Words& words : {Words{"fetch"}, Words{"--", "get", "ftp://h/f", "-"}, Words{"-"}, Words{"-v", "get"}}) {
    const auto job = commands().at("gridftp").parse(words);
    ASSERT_FALSE(job) << words.front() << ": help, and status 0, with nothing transferred";
    EXPECT_EQ(job.error().code, Errc::bad_argument);
    EXPECT_THAT(job.error().message(), HasSubstr("get, put, copy, serve and gateway"));
  }
}

}  // namespace
}  // namespace udtcat
