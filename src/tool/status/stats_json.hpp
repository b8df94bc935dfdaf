// SPDX-License-Identifier: Apache-2.0
/// Statistics of a run as JSON, for programs.
#pragma once

#include <chrono>
#include <string>

#include <udtcat/options.hpp>

#include "tool/cli/exit_status.hpp"
#include "tool/status/stats_text.hpp"
#include "tool/status/why_text.hpp"

namespace udtcat::tool {

struct RunReport {
  Sample end;
  std::chrono::microseconds cpu{0};  ///< of this process, all threads, user and system
  TransportKind transport = TransportKind::native;
  CongestionKind congestion = CongestionKind::bbr;
  Protection protection = Protection::private_;
  std::string peer;       ///< empty where there was none
  std::string peer_name;  ///< by its key pair; empty where it has none
  ExitStatus exit_status = ExitStatus::success;
  std::string exit_reason;  ///< "complete", or the error's text
  DiagnosisText limited_by;
};

/// One line, an object. Docs: udtcat(1), "--stats".
[[nodiscard]] std::string to_json(const RunReport& report);

}  // namespace udtcat::tool
