// SPDX-License-Identifier: Apache-2.0
/// How much and how long: the full sizes of the acceptance in an ordinary build, smaller ones under sanitizers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace udtcat::test {

using namespace std::chrono_literals;

inline constexpr bool kSanitized = UDTCAT_SANITIZED;

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

/// A transfer size: sanitized programs are up to some twenty times slower.
[[nodiscard]] constexpr std::uint64_t scaled(std::uint64_t bytes) { return kSanitized ? bytes / 16 : bytes; }
/// A number of repetitions.
[[nodiscard]] constexpr int scaled_count(int count) { return kSanitized ? count / 10 : count; }
/// A limit on how long something of ours may take; durations that are part of a scenario are not stretched.
[[nodiscard]] constexpr std::chrono::milliseconds patience(std::chrono::milliseconds limit) {
  return kSanitized ? limit * 4 : limit;
}

inline constexpr auto kAtOnce = patience(10s);         // guess: a handshake and a message, on a machine that stalls
inline constexpr auto kTransferLimit = patience(60s);  // guess: 1 GiB at a fifth of the usual rate
/// Acceptance 11. A sanitizer's shadow and quarantine are not the program's memory.
inline constexpr std::uint64_t kResidentLimitBytes = kSanitized ? 2 * kGiB : 512 * kMiB;
/// Acceptance 6.
inline constexpr std::uint64_t kStrangersLimitBytes = kSanitized ? 512 * kMiB : 64 * kMiB;

}  // namespace udtcat::test
