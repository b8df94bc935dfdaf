// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/command.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

std::vector<FtpCommand> all_of(CommandReader& reader) {
  std::vector<FtpCommand> all;
  for (auto command = reader.next(); command && *command; command = reader.next()) all.push_back(**command);
  return all;
}

std::vector<FtpCommand> read(std::string_view wire) {
  CommandReader reader;
  reader.push(wire);
  return all_of(reader);
}

TEST(CommandReader, TellsVerbFromArgument) {
  EXPECT_EQ(read("RETR /a b\r\n"), (std::vector<FtpCommand>{{"RETR", "/a b"}}));
  EXPECT_EQ(read("retr  x \r\n"), (std::vector<FtpCommand>{{"RETR", " x "}})) << "names keep their blanks";
  EXPECT_EQ(read("Noop\n"), (std::vector<FtpCommand>{{"NOOP", ""}}));
  EXPECT_EQ(read("\r\n"), (std::vector<FtpCommand>{{"", ""}}));
}

TEST(CommandReader, GivesTheSameHoweverTheBytesCome) {
  const std::string wire = "USER anonymous\r\nPASS x\nSTOR /a\xc3\xa9\r\nQUIT\r\n";
  const auto expected = read(wire);
  ASSERT_EQ(expected.size(), 4U);
  for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
    CommandReader reader;
    reader.push(std::string_view(wire).substr(0, cut));
    auto commands = all_of(reader);
    reader.push(std::string_view(wire).substr(cut));
    for (auto& command : all_of(reader)) commands.push_back(std::move(command));
    EXPECT_EQ(commands, expected) << cut;
  }
}

TEST(CommandReader, WaitsForTheEndOfALine) {
  CommandReader reader;
  for (const char letter : std::string_view("RETR x")) {
    reader.push(std::string_view(&letter, 1));
    EXPECT_EQ(reader.next().value(), std::nullopt);
  }
}

TEST(CommandReader, DropsTelnetBytesBeforeAbor) {
  EXPECT_EQ(read("\xff\xf4\xff\xf2"
                 "ABOR\r\n"),
            (std::vector<FtpCommand>{{"ABOR", ""}}));
}

/// Proves: gridftp.command-length
TEST(CommandReader, KeepsNoMoreThanItsBound) {
  CommandReader endless;
  endless.push("RETR " + std::string(128 * 1024, 'x'));
  EXPECT_FALSE(endless.next());
  endless.push("\r\nNOOP\r\n");
  EXPECT_FALSE(endless.next()) << "from then on";
  CommandReader longest;
  longest.push("RETR " + std::string(128 * 1024 - 6, 'x') + "\r\n");
  EXPECT_TRUE(longest.next());
}

TEST(CommandReader, ReadsManyEmptyLinesInLittleTime) {
  CommandReader reader;
  reader.push(std::string(CommandReader::kMaxBytes, '\n'));
  EXPECT_EQ(all_of(reader).size(), CommandReader::kMaxBytes);
}

TEST(CommandReader, CountsItsWaitingBytes) {
  CommandReader reader;
  reader.push("NOOP\r\nPWD");
  EXPECT_EQ(reader.waiting_bytes(), 9U);
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.waiting_bytes(), 3U);
  reader.push("\r\n");
  EXPECT_EQ(reader.next().value().value().verb, "PWD");
  EXPECT_EQ(reader.waiting_bytes(), 0U);
}

TEST(CommandReader, TakesAByteThatTelnetSaysTwiceForOne) {
  CommandReader reader;
  reader.push(
      "SIZE a\xff\xff"
      "b\r\nSIZE a\xff"
      "b\r\n");
  for (int way = 0; way < 2; ++way)
    EXPECT_EQ(reader.next().value()->argument,
              "a\xff"
              "b");
}

}  // namespace
}  // namespace udtcat::gridftp
