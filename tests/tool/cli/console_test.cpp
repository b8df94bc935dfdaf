// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/console.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <boost/algorithm/string/split.hpp>

#include "lib/core/log.hpp"
#include "tool/support/pipe.hpp"

namespace udtcat::tool {
namespace {

const std::string kTime = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[.][0-9]{3}[+-][0-9]{2}:[0-9]{2}";

class ConsoleTest : public testing::Test {
 protected:
  Pipe pipe_;
  Console console_{pipe_.writer()};
};

TEST_F(ConsoleTest, WritesWholeLines) {
  console_.line("one");
  console_.line("two");
  EXPECT_EQ(pipe_.drain(), "one\ntwo\n");
}

TEST_F(ConsoleTest, NamesItsHostBehindOurNameWhereItIsTold) {
  console_.name_host("beta\n");
  console_.line("udtcat: a line");
  console_.line("{}");
  EXPECT_EQ(pipe_.drain(), "udtcat (beta?): a line\n{}\n");
}

TEST_F(ConsoleTest, DatesItsLinesWhereAFileTakesThem) {
  console_.date_lines();
  console_.line("udtcat: a line");
  console_.line("{}");
  EXPECT_THAT(pipe_.drain(), testing::MatchesRegex(kTime + " udtcat: a line\n[{][}]\n"));
  EXPECT_TRUE(console_.is_log());
}

TEST_F(ConsoleTest, LeavesTheTimeToAJournal) {
  Console journal(pipe_.writer(), true);
  journal.date_lines();
  journal.line("udtcat: a line");
  EXPECT_EQ(pipe_.drain(), "<5>a line\n");
}

TEST_F(ConsoleTest, HasTheNameOfItsServiceBehindTheTime) {
  console_.date_lines();
  console_.format_lines(LogFormat::text, "db");
  console_.event({.kind = EventKind::reload, .message = "read again"});
  EXPECT_THAT(pipe_.drain(), testing::MatchesRegex(kTime + " udtcat [(]db[)]: read again\n"));
}

TEST_F(ConsoleTest, WritesEachLineAsAnObjectAndNoStatusWhereItIsToldSo) {
  console_.format_lines(LogFormat::json, "db");
  console_.status("12 %");
  console_.line("udtcat: a line", Severity::warning);
  console_.line("udtcat host 9000");
  console_.event({.kind = EventKind::reload, .message = "read again", .result = kComplete});
  console_.object(R"({"of":"statistics"})");
  std::vector<std::string> lines;
  const std::string text = pipe_.drain();
  boost::split(lines, text, [](char c) { return c == '\n'; });
  ASSERT_EQ(lines.size(), 5U) << text;
  EXPECT_THAT(lines[0], testing::HasSubstr(R"("level":"warning","service":"db","message":"a line"})"));
  EXPECT_THAT(lines[1], testing::HasSubstr(R"("message":"udtcat host 9000"})"));
  EXPECT_THAT(lines[2], testing::HasSubstr(R"("message":"read again","event":"reload","result":"complete"})"));
  EXPECT_EQ(lines[3], R"({"of":"statistics"})");
}

TEST_F(ConsoleTest, WritesObjectsBehindTheirLevelInAJournal) {
  Console journal(pipe_.writer(), true);
  journal.format_lines(LogFormat::json, {});
  journal.line("udtcat: a line", Severity::warning);
  EXPECT_THAT(pipe_.drain(), testing::StartsWith(R"(<4>{"time":)"));
}

TEST_F(ConsoleTest, RewritesTheStatus) {
  console_.status("long status");
  console_.status("short");
  EXPECT_EQ(pipe_.drain(), "\rlong status\rshort      ");
}

TEST_F(ConsoleTest, PutsALineInThePlaceOfTheStatus) {
  console_.status("12 %");
  console_.line("a line");
  console_.line("more");
  EXPECT_EQ(pipe_.drain(), "\r12 %\r    \ra line\nmore\n");
}

TEST_F(ConsoleTest, TakesTheStatusAway) {
  console_.status("12 %");
  console_.clear_status();
  console_.clear_status();
  EXPECT_EQ(pipe_.drain(), "\r12 %\r    \r");
}

TEST_F(ConsoleTest, CountsCharactersAndShowsOnlyPrintableOnes) {
  console_.status("waiting for 'käse'");
  console_.status("\x1b[2J");
  EXPECT_EQ(pipe_.drain(), "\rwaiting for 'käse'\r?[2J              ");
}

TEST_F(ConsoleTest, DropsLinesThatAreNotRead) {
  // More than a pipe holds: this test ends only if nothing waits for a reader.
  const std::string text(1000, 'x');
  for (int i = 0; i < 1000; ++i) console_.line(text);
  console_.status(text);
  EXPECT_GT(pipe_.drain().size(), 4096U);
}

TEST(Console, KeepsTheStatusWithinItsWindow) {
  const int user = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::grantpt(user) + ::unlockpt(user), 0);
  std::array<char, 64> name{};
  ASSERT_EQ(::ptsname_r(user, name.data(), name.size()), 0);
  const int terminal = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const winsize window{.ws_row = 24, .ws_col = 12, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &window), 0);
  Console console(terminal);
  EXPECT_EQ(console.columns(), 11U);
  console.status("0123456789abcdef");
  std::array<char, 64> screen{};
  const ssize_t shown = ::read(user, screen.data(), screen.size());
  EXPECT_EQ(std::string(screen.data(), static_cast<std::size_t>(std::max<ssize_t>(shown, 0))), "\r0123456789a");
  ::close(terminal);
  ::close(user);
}

TEST(Console, GoesOnWithoutStderr) {
  Console closed(-1);
  closed.line("nobody hears");
  const int full_disk = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  Console full(full_disk);
  full.line("nothing fits");
  ::close(full_disk);
}

class StderrLog : public ConsoleTest {
 protected:
  /// All levels, in the words of the library.
  [[nodiscard]] std::string said(int verbosity) {
    install_stderr_log(console_, verbosity);
    core::log().trace("trace");
    core::log().debug("debug");
    core::log().info("info");
    core::log().warn("warn");
    core::log().error("error");
    install_stderr_log(silence_, -1);
    return pipe_.drain();
  }
  Console silence_{-1};
};

TEST_F(StderrLog, HasErrorsOnlyWhenQuiet) { EXPECT_EQ(said(-1), "udtcat: error\n"); }
TEST_F(StderrLog, HasWarningsByDefault) { EXPECT_EQ(said(0), "udtcat: warn\nudtcat: error\n"); }
TEST_F(StderrLog, HasMoreWhenVerbose) { EXPECT_EQ(said(1), "udtcat: info\nudtcat: warn\nudtcat: error\n"); }
TEST_F(StderrLog, HasEventsWithTheirTime) {
  const std::string text = said(2);
  EXPECT_NE(text.find(" debug: debug\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("trace: trace"), std::string::npos) << text;
}
TEST_F(StderrLog, HasEverythingAtTheHighestVerbosity) { EXPECT_NE(said(3).find(" trace: trace\n"), std::string::npos); }

TEST_F(StderrLog, HasTheTimeOfEachLineAtDevelopersVerbosity) {
  EXPECT_THAT(said(2), testing::ContainsRegex("^" + kTime + " udtcat: debug: debug\n"));
}
TEST_F(StderrLog, AsJsonHasTheLevelApart) {
  console_.format_lines(LogFormat::json, {});
  EXPECT_THAT(said(2), testing::ContainsRegex(R"("level":"debug","service":null,"message":"debug"[}])"));
}

TEST_F(StderrLog, HasEventsByTheirSeverity) {
  const auto tell = [&](int verbosity, Severity severity, const char* text) {
    install_stderr_log(console_, verbosity);
    log_event({.kind = EventKind::reload, .severity = severity, .message = text});
  };
  tell(-1, Severity::notice, "quiet");
  tell(-1, Severity::error, "error");
  tell(0, Severity::info, "more");
  tell(0, Severity::notice, "notice");
  tell(1, Severity::info, "info");
  console_.format_lines(LogFormat::json, {});
  tell(0, Severity::info, "for a program");
  install_stderr_log(silence_, -1);
  EXPECT_THAT(pipe_.drain(),
              testing::MatchesRegex("udtcat: error\nudtcat: notice\nudtcat: info\n[{].*\"for a program\".*\n"));
}

TEST_F(StderrLog, GivesAJournalLevelsWithoutNameTimeOrProgress) {
  Console journal(pipe_.writer(), true);
  install_stderr_log(journal, 3);
  journal.status("12 %");
  journal.line("udtcat: listening");
  journal.line("udtcat: no such file", Severity::error);
  core::log().warn("refused");
  core::log().debug("an event");
  install_stderr_log(silence_, -1);
  EXPECT_EQ(pipe_.drain(), "<5>listening\n<3>no such file\n<4>refused\n<7>an event\n");
}

}  // namespace
}  // namespace udtcat::tool
