// SPDX-License-Identifier: Apache-2.0
/// The exit statuses: one table, which --help prints and the man page repeats; tests compare the two.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

namespace udtcat::tool {

enum class ExitStatus : int {
  success = 0,
  usage = 2,
  unreachable = 3,
  refused = 4,
  peer_lost = 5,
  tampered = 6,
  io_failed = 7,
  hung_up = 129,
  interrupted = 130,
  terminated = 143,
  own_failure = 255,  ///< of a remote command: ours, not its own; as ssh has it
};

struct ExitStatusRow {
  ExitStatus status;
  std::string_view meaning;
};

inline constexpr std::array<ExitStatusRow, 10> kExitStatusTable{{
    {ExitStatus::success, "every byte taken at the other end, which has said so"},
    {ExitStatus::usage, "usage: an option, an argument or the key cannot be used"},
    {ExitStatus::unreachable, "cannot resolve, bind or reach; or nobody came in time"},
    {ExitStatus::refused, "refused: key, protection level, purpose or name"},
    {ExitStatus::peer_lost, "peer lost, or stream cut before its end"},
    {ExitStatus::tampered, "data tampered with, or protocol violated"},
    {ExitStatus::io_failed, "reading or writing failed, or the command of --exec, here or there"},
    {ExitStatus::hung_up, "stopped by SIGHUP"},
    {ExitStatus::interrupted, "stopped by SIGINT"},
    {ExitStatus::terminated, "stopped by SIGTERM"},
}};

[[nodiscard]] constexpr int to_int(ExitStatus status) { return static_cast<int>(status); }
[[nodiscard]] ExitStatus exit_status_of(Errc code);
/// `signal` is SIGHUP, SIGINT or SIGTERM.
[[nodiscard]] ExitStatus exit_status_of_signal(int signal);
/// One line a row, for --help.
[[nodiscard]] std::string exit_status_text();

}  // namespace udtcat::tool
