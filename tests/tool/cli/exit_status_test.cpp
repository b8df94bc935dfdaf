// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/exit_status.hpp"

#include <csignal>
#include <map>

#include <gtest/gtest.h>

#include "pipe/pipe_options.hpp"
#include "tool/support/source_file.hpp"

namespace udtcat::tool {
namespace {

const std::map<Errc, int> kExpected{
    {Errc::bad_argument, 2},
    {Errc::cannot_resolve, 3},
    {Errc::cannot_bind, 3},
    {Errc::cannot_reach, 3},
    {Errc::local_read_failed, 7},
    {Errc::local_write_failed, 7},
    {Errc::local_connect_failed, 7},
    {Errc::out_of_resources, 7},
    {Errc::incomplete, 7},
    {Errc::interrupted, 130},
    {Errc::authentication_failed, 4},
    {Errc::parameters_refused, 4},
    {Errc::remote_read_failed, 7},
    {Errc::remote_write_failed, 7},
    {Errc::remote_connect_failed, 7},
    {Errc::stream_refused, 7},
    {Errc::peer_interrupted, 5},
    {Errc::peer_lost, 5},
    {Errc::connection_broken, 5},
    {Errc::tampered, 6},
    {Errc::protocol_violated, 6},
    {Errc::peer_reports_tampering, 6},
    {Errc::key_exhausted, 6},
    {Errc::cipher_failed, 6},
};

TEST(ExitStatus, FollowsFromTheErrorAlone) {
  for (const auto& [code, status] : kExpected)
    EXPECT_EQ(to_int(exit_status_of(code)), status) << make_error_code(code).message();
}

TEST(ExitStatus, IsDefinedForEachErrorCode) {
  // Errc counts from 1 without gaps; what lies behind the last has no text.
  for (int code = 1; make_error_code(static_cast<Errc>(code)).message() != "unknown error"; ++code)
    EXPECT_TRUE(kExpected.contains(static_cast<Errc>(code))) << make_error_code(static_cast<Errc>(code)).message();
}

TEST(ExitStatus, OfASignalIsTheShells) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) EXPECT_EQ(to_int(exit_status_of_signal(signal)), 128 + signal);
}

TEST(ExitStatus, OfEveryErrorStandsInTheTable) {
  for (const auto& [code, status] : kExpected) {
    const auto in_table = [&](const ExitStatusRow& row) { return to_int(row.status) == status; };
    EXPECT_EQ(std::count_if(kExitStatusTable.begin(), kExitStatusTable.end(), in_table), 1) << status;
  }
}

TEST(ExitStatus, TableIsInTheHelp) { EXPECT_NE(pipe::help_text().find(exit_status_text()), std::string::npos); }

TEST(ExitStatus, TableIsInTheManPage) {
  std::string page_table;
  for (const auto& [status, meaning] : kExitStatusTable)
    page_table += ".It " + std::to_string(to_int(status)) + "\n" + std::string(meaning) + "\n";
  EXPECT_NE(source_file("docs/man/udtcat.1").find(page_table + ".El\n"), std::string::npos) << page_table;
}

}  // namespace
}  // namespace udtcat::tool
