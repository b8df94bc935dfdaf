// SPDX-License-Identifier: Apache-2.0
/// Whether a service of this host is well, for a monitoring system that runs plugins.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "pipe/status_query.hpp"

namespace udtcat::pipe {

/// With the exit statuses of the plugins.  spec: Monitoring Plugins Development Guidelines, "Plugin Return Codes"
enum class ServiceState { ok = 0, warning = 1, critical = 2, unknown = 3 };

struct ServiceCheck {
  ServiceState state = ServiceState::unknown;
  std::string line{};  ///< "OK - db: 1 peer, 1.2 MB/s | sessions=1 …", without its end
};

inline constexpr std::chrono::seconds kLongDialing{60};   // guess: a peer that was started anew is back by then
inline constexpr std::chrono::minutes kRecentRefusal{5};  // guess: as often as many look

/// Of the service with that name; where several processes have it, of the one that fares worst. Without one that has
/// it, a process that does not answer may be the one; one that may not be asked, too.
/// answers      of all processes of the host that nobody can call so himself: tool::is_place_of_services()
/// is_claimed   another process has that name
/// Docs: udtcat-status(1), "--check".
[[nodiscard]] ServiceCheck check_service(const std::string& name, std::span<const StatusAnswer> answers,
                                         bool is_claimed = false);

}  // namespace udtcat::pipe
