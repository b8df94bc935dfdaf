// SPDX-License-Identifier: Apache-2.0
#include "tool/status/service_manager.hpp"

#include <cstdint>
#include <tuple>

#include <fmt/format.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include "tool/cli/process_setup.hpp"

namespace udtcat::tool {

namespace {

// systemd has no archive: the static program tells no service manager anything.
constexpr bool kHasSystemd = UDTCAT_HAS_SYSTEMD != 0;

}  // namespace

bool has_service_manager() { return kHasSystemd && environment("NOTIFY_SOCKET").has_value(); }

void tell_service_manager([[maybe_unused]] const std::string& assignments) {
  if constexpr (kHasSystemd)
    std::ignore = ::sd_notify(0, assignments.c_str());  // a manager that does not hear has its own time-outs
}

std::optional<std::chrono::microseconds> watchdog_interval() {
  std::uint64_t interval_us = 0;
  if constexpr (kHasSystemd)
    if (::sd_watchdog_enabled(0, &interval_us) <= 0) return std::nullopt;
  return interval_us == 0 ? std::nullopt : std::optional(std::chrono::microseconds(interval_us));
}

bool is_journal(int descriptor) {
  const auto stream = environment("JOURNAL_STREAM");
  struct stat about {};
  if (!stream || ::fstat(descriptor, &about) != 0) return false;
  return *stream == fmt::format("{}:{}", about.st_dev, about.st_ino);
}

}  // namespace udtcat::tool
