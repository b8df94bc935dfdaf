// SPDX-License-Identifier: Apache-2.0
/// The state of processes as metrics, in the two formats that Prometheus and its kin read.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "tool/status/snapshot.hpp"

namespace udtcat::tool {

/// prometheus    its text format, 0.0.4
/// openmetrics   OpenMetrics 1.0
enum class MetricsFormat { prometheus, openmetrics };

/// As HTTP names it.
[[nodiscard]] std::string_view content_type_of(MetricsFormat format);

/// Each family is one block, whatever the number of processes, and no series comes twice, whatever the snapshots say.
/// now    at which the snapshots were made
/// Docs: docs/spec/metrics.md.
[[nodiscard]] std::string to_metrics(std::span<const ProcessSnapshot> snapshots, MetricsFormat format,
                                     std::chrono::system_clock::time_point now);

}  // namespace udtcat::tool
