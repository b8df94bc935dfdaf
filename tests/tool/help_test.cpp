/// --help, the man page and the completion know every option, and no other.
#include "tool/help.hpp"

#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tool/support/source_file.hpp"

namespace udtcat::tool {
namespace {

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    found.insert((*match)[1]);
  return found;
}

/// The long options that the program takes, from where it takes them.
std::set<std::string> options_taken() {
  return matches(source_file("src/cli/written_options.cpp"), std::regex("[\",]--([a-z-]+)\""));
}

TEST(Help, ListsEveryOption) {
  auto listed = matches(help_text(), std::regex("--([a-z]+(?:-[a-z]+)*)"));
  for (const char* short_form_suffices : {"listen", "verbose"}) listed.insert(short_form_suffices);
  EXPECT_GT(options_taken().size(), 20U);
  EXPECT_EQ(listed, options_taken());
}

TEST(Help, FitsATerminalOfAHundredAndTwentyColumns) {
  std::istringstream lines(help_text());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST(ManPage, DescribesEveryOption) {
  const std::string page = source_file("docs/man/udtcat.1");
  const std::string described = page.substr(page.find(".Sh OPTIONS"), page.find(".Sh KEYS") - page.find(".Sh OPTIONS"));
  std::string items;
  std::istringstream lines(described);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(".It ")) items += line + "\n";
  EXPECT_EQ(matches(items, std::regex(" -([a-z]+(?:-[a-z]+)*)")), options_taken());
}

/// Those that only remote commands have.
std::set<std::string> rsh_options_taken() {
  return matches(source_file("src/cli/rsh_written_options.cpp"), std::regex("\"--([a-z-]+)\""));
}

TEST(RshHelp, ListsEveryOptionOfARemoteCommand) {
  const auto listed = matches(rsh_help_text(), std::regex("--([a-z]+(?:-[a-z]+)*)"));
  auto wanted = rsh_options_taken();
  wanted.erase("allow");  // the daemon's
  for (const std::string& option : wanted) EXPECT_TRUE(listed.contains(option)) << option;
}

TEST(RshManPage, DescribesEveryOptionOfARemoteCommand) {
  const std::string page = source_file("docs/man/udtcat-rsh.1");
  for (const std::string& option : rsh_options_taken())
    EXPECT_NE(page.find(".It Fl -" + option), std::string::npos) << option;
}

/// Those that only GridFTP has.
std::set<std::string> gridftp_options_taken() {
  return matches(source_file("src/cli/gridftp_written_options.cpp"), std::regex("[\",]--([a-z-]+)\""));
}

TEST(GridftpHelp, ListsEveryOptionOfGridftp) {
  const auto listed = matches(gridftp_help_text(), std::regex("--([a-z]+(?:-[a-z]+)*)"));
  EXPECT_GT(gridftp_options_taken().size(), 5U);
  for (const std::string& option : gridftp_options_taken()) EXPECT_TRUE(listed.contains(option)) << option;
}

TEST(GridftpManPage, DescribesEveryOptionOfGridftp) {
  const std::string page = source_file("docs/man/udtcat-gridftp.1");
  for (const std::string& option : gridftp_options_taken())
    EXPECT_NE(page.find("Fl -" + option), std::string::npos) << option;
}

TEST(Completion, OffersEveryOptionOfGridftp) {
  const std::string script = source_file("scripts/completion/udtcat.bash");
  for (const std::string& option : gridftp_options_taken())
    EXPECT_NE(script.find(" --" + option), std::string::npos) << option;
}

TEST(Completion, OffersEveryOption) {
  const std::string script = source_file("scripts/completion/udtcat.bash");
  const auto begin = script.find("options='") + 8;
  EXPECT_EQ(matches(script.substr(begin, script.find('\'', begin + 1) - begin), std::regex("--([a-z]+(?:-[a-z]+)*)")),
            options_taken());
}

}  // namespace
}  // namespace udtcat::tool
