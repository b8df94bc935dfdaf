// SPDX-License-Identifier: Apache-2.0
/// The program, src: the table of commands (the commands.cpp of each module). Each option
/// is known to the commands in which it acts, stands in their help, their page and their completion, and is refused by
/// all others.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/commands.hpp"
#include "gridftp/command/commands.hpp"
#include "pipe/commands.hpp"
#include "rsh/command/commands.hpp"
#include "tool/program/completion.hpp"
#include "tool/support/source_file.hpp"
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
const Names kLogging = and_also(kAll, {"verify"});
const Names kKeyed = and_also({"", "bench", "send", "receive"}, kGridftp);
const Names kDialling = and_also({"", "rsh", "bench", "send", "receive"}, kGridftp);
const Names kWatched = and_also(kDialling, {"verify"});
const Names kChecked = and_also(kListeners, {"bench"});
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
    {"--transport", "native", kAll},
    {"--congestion", "bbr", kAll},
    {"--offload", "off", kAll},
    {"--memory", "1MiB", kAll},
    {"--idle-timeout", "5s", kAll},
    {"--verbose", "", kLogging},
    {"--quiet", "", kLogging},
    {"--stats", "json", kLogging},
    {"--check", "", kChecked},
    {"--config", "f", {""}},
    {"--rate",
     "1M",
     {"", "rsh", "rsh-server", "trees-server", "bench", "send", "gridftp put", "gridftp serve", "gridftp gateway"}},
    {"--key-file", "f", kKeyed},
    {"--as", "a", kKeyed},
    {"--peer", "b", kKeyed},
    {"--connect-timeout", "1s", kDialling},
    {"--progress", "", kWatched},
    {"--no-progress", "", kWatched},
    {"--accept-timeout", "1s", {"", "rsh-server", "trees-server", "send", "receive"}},
    {"--listen", "", kListeners},
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
    {"--into", "d", {"receive"}},
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

/// By their words, those that were built.
const std::map<std::string, tool::Command>& commands() {
  static const auto all = [] {
    std::map<std::string, tool::Command> found;
    for (const auto& wing :
         {pipe::commands(), bench::commands(), rsh::commands(), trees::commands(), gridftp::commands()})
      for (const tool::Command& command : wing) found.emplace(joined(command.words), command);
    return found;
  }();
  return all;
}

class OptionOfCommands : public testing::TestWithParam<Option> {
 protected:
  /// The complaint of a command about the option; none: it takes it.
  [[nodiscard]] static std::string complaint(const std::string& name) {
    Words words = kCommandLines.at(name);
    const auto& [option, value, known_to] = GetParam();
    if (!value.empty()) words.insert(words.begin(), value);
    words.insert(words.begin(), option);
    const auto job = commands().at(name).parse(words);
    return job ? "" : job.error().message();
  }
};

TEST_P(OptionOfCommands, IsKnownWhereItActsAndRefusedElsewhere) {
  const Option& option = GetParam();
  for (const auto& [name, line] : kCommandLines) {
    const bool is_of_ssh = name == "rsh" && !option.name.starts_with("--");
    if (!commands().contains(name) || is_of_ssh) continue;
    const std::string said = complaint(name);
    if (option.commands.contains(name)) {
      EXPECT_THAT(said, testing::Not(HasSubstr("unknown to"))) << "udtcat " << name << " " << option.name;
    } else {
      EXPECT_THAT(said, HasSubstr(option.name)) << "udtcat " << name;
      EXPECT_THAT(said, HasSubstr(name.empty() ? "unknown to udtcat;" : "udtcat " + name)) << option.name;
    }
  }
}

TEST_P(OptionOfCommands, StandsInTheirHelp) {
  for (const std::string& name : GetParam().commands) {
    if (!commands().contains(name) || kFarEnds.contains(name)) continue;
    const bool short_form_suffices = GetParam().name == "--listen" || GetParam().name == "--verbose";
    EXPECT_THAT(commands().at(name).help(),
                HasSubstr(short_form_suffices ? GetParam().name.substr(1, 2) : GetParam().name))
        << "udtcat " << name;
  }
}

TEST_P(OptionOfCommands, StandsInTheManPages) {
  if (std::ranges::includes(kFarEnds, GetParam().commands)) return;
  const bool common = GetParam().commands.contains("");
  const bool of_rsh = GetParam().commands.contains("rsh");
  const bool of_trees = GetParam().commands.contains("send") || GetParam().commands.contains("receive");
  const std::string page = tool::source_file(common                                  ? "docs/man/udtcat.1"
                                             : of_rsh                                ? "docs/man/udtcat-rsh.1"
                                             : GetParam().commands.contains("bench") ? "docs/man/udtcat-bench.1"
                                             : of_trees                              ? "docs/man/udtcat-send.1"
                                                                                     : "docs/man/udtcat-gridftp.1");
  EXPECT_THAT(page, testing::ContainsRegex("\n\\.It [^\n]*Fl [^\n]*" + GetParam().name.substr(1)));
}

INSTANTIATE_TEST_SUITE_P(Of, OptionOfCommands, testing::ValuesIn(kOptions), [](const auto& chosen) {
  std::string name = chosen.param.name;
  std::erase(name, '-');
  return name;
});

TEST(Help, FitsATerminalOfAHundredAndTwentyColumns) {
  for (const auto& [name, command] : commands()) {
    std::istringstream lines(command.help());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
  }
}

/// The words that a shell would offer behind `udtcat NAME -`.
Names completion_of(const std::string& name) {
  tool::Commands all;
  for (const auto& [words, command] : commands()) all.push_back(command);
  Words words;
  std::istringstream stream(name + " -");
  for (std::string word; stream >> word;) words.push_back(word);
  std::istringstream lines(tool::completion(all, words));
  Names offered;
  for (std::string line; std::getline(lines, line);) offered.insert(line.substr(0, line.find('\t')));
  return offered;
}

TEST(Completion, OffersEachCommandsOptionsAndNoOther) {
  for (const auto& [name, line] : kCommandLines) {
    if (kFarEnds.contains(name) || !commands().contains(name)) continue;
    const Names offered = completion_of(name);
    EXPECT_TRUE(offered.contains("--help")) << name;
    for (const Option& option : kOptions) {
      if (name == "rsh" && !option.name.starts_with("--")) continue;
      EXPECT_EQ(offered.contains(option.name), option.commands.contains(name)) << name << " " << option.name;
    }
  }
}

TEST(Gridftp, NamesItsVerbsWhereNoneComesFirst) {
  for (const Words& words : {Words{"fetch"}, Words{"--", "get", "ftp://h/f", "-"}, Words{"-"}, Words{"-v", "get"}}) {
    const auto job = commands().at("gridftp").parse(words);
    ASSERT_FALSE(job) << words.front() << ": help, and status 0, with nothing transferred";
    EXPECT_EQ(job.error().code, Errc::bad_argument);
    EXPECT_THAT(job.error().message(), testing::AnyOf(HasSubstr("get, put, copy, serve and gateway"),
                                                      HasSubstr("this program was built without it")));
  }
}

}  // namespace
}  // namespace udtcat
