// SPDX-License-Identifier: Apache-2.0
/// Where libsystemd is not built in: nobody is told anything.
#include "tool/status/service_manager.hpp"

namespace udtcat::tool {

bool has_service_manager() { return false; }
void tell_service_manager(const std::string& /*assignments*/) {}
std::optional<std::chrono::microseconds> watchdog_interval() { return std::nullopt; }

}  // namespace udtcat::tool
