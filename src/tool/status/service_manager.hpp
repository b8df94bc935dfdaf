// SPDX-License-Identifier: Apache-2.0
/// The service manager that started this process, where it wants to hear of it: systemd.  source: sd_notify(3)
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace udtcat::tool {

/// Whether there is one that listens.
[[nodiscard]] bool has_service_manager();

/// Tells it something: "READY=1\nSTATUS=2 peers". Nothing happens where there is none.
void tell_service_manager(const std::string& assignments);

/// The time within which it wants to hear "WATCHDOG=1"; none: it does not watch.
[[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval();

/// Whether `descriptor` leads to its journal, which reads levels and knows the time.  source: systemd.exec(5),
/// $JOURNAL_STREAM; sd-daemon(3)
[[nodiscard]] bool is_journal(int descriptor);

}  // namespace udtcat::tool
