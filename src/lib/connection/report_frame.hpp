// SPDX-License-Identifier: Apache-2.0
/// The body of a REPORT frame: one end's statistics, as numbers. See docs/spec/stream.md §7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>

#include "lib/core/stats_fields.hpp"

namespace udtcat::connection {

inline constexpr std::size_t kReservedNumbers = 2;  // spec: stream.md §7: of earlier versions, in the middle
inline constexpr std::size_t kReportBytes = (core::number_count<EndStats>() + kReservedNumbers) * sizeof(std::uint64_t);
inline constexpr std::size_t kLeastReportBytes = 31 * sizeof(std::uint64_t);  // spec: stream.md §7
inline constexpr std::size_t kMaxReportBytes = 1024;                          // spec: stream.md §7

/// out   kReportBytes
void encode_report(const EndStats& stats, std::span<std::byte> out);
/// Total: what a later version adds behind is passed over, what an earlier one does not have is 0, and a time that
/// nobody lives to see is cut.
/// errors: Errc::protocol_violated
[[nodiscard]] Result<EndStats> decode_report(std::span<const std::byte> body);

}  // namespace udtcat::connection
