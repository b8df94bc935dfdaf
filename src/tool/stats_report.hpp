/// Figures of a run that has ended, for programs.
#pragma once

#include <chrono>
#include <string>

#include <udtcat/options.hpp>

#include "tool/exit_status.hpp"
#include "tool/progress.hpp"

namespace udtcat::tool {

struct RunReport {
  Sample end;
  std::chrono::microseconds cpu{0};  ///< of this process, all threads, user and system
  TransportKind transport = TransportKind::libudt;
  CongestionKind congestion = CongestionKind::udt;
  Protection protection = Protection::private_;
  std::string peer;  ///< empty where there was none
  ExitStatus exit_status = ExitStatus::success;
  std::string exit_reason;  ///< "complete", or the error's text
};

/// One line, an object. Docs: udtcat(1), "--stats".
[[nodiscard]] std::string to_json(const RunReport& report);

/// What the process has used so far.
[[nodiscard]] std::chrono::microseconds process_cpu_time();

}  // namespace udtcat::tool
