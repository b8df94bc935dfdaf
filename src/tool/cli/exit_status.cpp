// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/exit_status.hpp"

#include <csignal>

#include <fmt/format.h>

#include "lib/core/invariant.hpp"

namespace udtcat::tool {

ExitStatus exit_status_of(Errc code) {
  switch (code) {
    case Errc::bad_argument:
      return ExitStatus::usage;
    case Errc::cannot_resolve:
    case Errc::cannot_bind:
    case Errc::cannot_reach:
      return ExitStatus::unreachable;
    case Errc::authentication_failed:
    case Errc::parameters_refused:
      return ExitStatus::refused;
    case Errc::peer_interrupted:
    case Errc::peer_lost:
    case Errc::connection_broken:
      return ExitStatus::peer_lost;
    case Errc::tampered:
    case Errc::protocol_violated:
    case Errc::peer_reports_tampering:
    // A cipher that fails may not have protected what was sent: that is no ordinary write error.
    case Errc::key_exhausted:
    case Errc::cipher_failed:
      return ExitStatus::tampered;
    case Errc::local_read_failed:
    case Errc::local_write_failed:
    case Errc::local_connect_failed:
    case Errc::out_of_resources:
    case Errc::incomplete:
    case Errc::remote_read_failed:
    case Errc::remote_write_failed:
    case Errc::remote_connect_failed:
    case Errc::stream_refused:
      return ExitStatus::io_failed;
    case Errc::interrupted:
      return ExitStatus::interrupted;
  }
  UDTCAT_INVARIANT(false, "every Errc is listed above");
}

ExitStatus exit_status_of_signal(int signal) {
  if (signal == SIGHUP) return ExitStatus::hung_up;
  if (signal == SIGTERM) return ExitStatus::terminated;
  return ExitStatus::interrupted;
}

std::string exit_status_text() {
  std::string text;
  for (const auto& [status, meaning] : kExitStatusTable) text += fmt::format("  {:>3}  {}\n", to_int(status), meaning);
  return text;
}

}  // namespace udtcat::tool
