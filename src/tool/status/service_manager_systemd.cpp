// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <tuple>

#include <systemd/sd-daemon.h>

#include "tool/cli/process_setup.hpp"
#include "tool/status/service_manager.hpp"

namespace udtcat::tool {

bool has_service_manager() { return environment("NOTIFY_SOCKET").has_value(); }

void tell_service_manager(const std::string& assignments) {
  std::ignore = ::sd_notify(0, assignments.c_str());  // a manager that does not hear has its own time-outs
}

std::optional<std::chrono::microseconds> watchdog_interval() {
  std::uint64_t interval_us = 0;
  if (::sd_watchdog_enabled(0, &interval_us) <= 0) return std::nullopt;
  return std::chrono::microseconds(interval_us);
}

}  // namespace udtcat::tool
