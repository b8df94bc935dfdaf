// SPDX-License-Identifier: Apache-2.0
/// Values as users write and read them: sizes, rates, times, the names of options, errno.
///
/// Read are rates in bits per second (k, M, G: powers of 1000) and sizes in bytes (kB, MB, GB, TB: powers of 1000; KiB,
/// MiB, GiB, TiB: powers of 1024). Written are bytes and bytes per second, by powers of 1000, with their unit; bits per
/// second where a user has given them.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

namespace udtcat::core {

inline constexpr std::size_t kMaxThreads = 256;  // guess: of those that users may ask for, more than hosts have cores

/// "4096", "256KiB", "1MiB", "3GB" → bytes. K, M and G alone are refused as ambiguous.  errors: Errc::bad_argument
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);
/// "400M", "10Gbit/s", "64k", "5000" → bits per second. Bytes are refused.  errors: Errc::bad_argument
[[nodiscard]] Result<BitRate> parse_rate(std::string_view text);
/// "500ms", "10s", "2m", "10" (seconds) → duration, at least 1 ms.  errors: Errc::bad_argument
[[nodiscard]] Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// "1.50 GB", "312 B".
[[nodiscard]] std::string format_size(std::uint64_t bytes);
/// "289 MB/s".
[[nodiscard]] std::string format_rate(BitRate rate);
/// "2.31 Gbit/s".
[[nodiscard]] std::string format_bit_rate(BitRate rate);
[[nodiscard]] std::string format_count(std::size_t count, std::string_view one);
/// "10 s", "0.25 s".
[[nodiscard]] std::string format_duration(std::chrono::duration<double> time);

/// The inverse of to_string(), in <udtcat/options.hpp>.  returns  none for an unknown name
[[nodiscard]] std::optional<Protection> parse_protection(std::string_view name);
[[nodiscard]] std::optional<Cipher> parse_cipher(std::string_view name);
[[nodiscard]] std::optional<TransportKind> parse_transport(std::string_view name);
/// "udp", "tcp": for addresses in messages.
[[nodiscard]] std::string_view protocol_of(TransportKind kind);
[[nodiscard]] std::optional<CongestionKind> parse_congestion(std::string_view name);

/// The text of an errno value, as the cause of an Error.  Threads: any, unlike strerror().
[[nodiscard]] std::string errno_text(int errno_value);
/// A failure of a call of the system's, by default of the one that came last on this thread.
[[nodiscard]] tl::unexpected<Error> fail_by_errno(Errc code, std::string what, int errno_value = errno);

}  // namespace udtcat::core
