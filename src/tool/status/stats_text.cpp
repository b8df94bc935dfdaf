// SPDX-License-Identifier: Apache-2.0
#include "tool/status/stats_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <udtcat/units.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using namespace std::chrono_literals;

/// ", 4 flows, RTT 75.1 ms, 0.50 % lost", as far as it is known; nothing where nobody has counted packets, as over TCP.
std::string path_text(const ConnectionStats& stats) {
  std::string text = stats.flows > 1 ? ", " + core::format_count(stats.flows, "flow") : "";
  if (stats.rtt) text += ", " + rtt_text(stats);
  // Of an end that receives they are a few of its own, and say little.
  if (stats.packets_sent == 0 || stats.bytes_sent < stats.bytes_received) return text;
  return text + fmt::format(", {:.2f} % lost", lost_per_cent(stats));
}

}  // namespace

std::uint64_t payload_bytes(const ConnectionStats& stats) { return stats.bytes_sent + stats.bytes_received; }

std::string payload_text(const ConnectionStats& stats) {
  const std::string received = core::format_size(stats.bytes_received) + " received";
  if (stats.bytes_sent == 0 && stats.bytes_received > 0) return received;
  return core::format_size(stats.bytes_sent) + " sent" + (stats.bytes_received > 0 ? ", " + received : "");
}

std::string rtt_text(const ConnectionStats& stats) {
  return fmt::format("RTT {:.1f} ms", duration<double, std::milli>(stats.rtt.value_or(0us)).count());
}

double lost_per_cent(const ConnectionStats& stats) {
  if (stats.packets_sent == 0) return 0;
  return std::min(100.0 * static_cast<double>(stats.packets_lost) / static_cast<double>(stats.packets_sent), 100.0);
}

std::string silence_text(const ConnectionStats& stats) {
  return fmt::format("no answer for {} s", duration_cast<std::chrono::seconds>(stats.silence).count());
}

std::string clock_text(std::chrono::nanoseconds elapsed) {
  const auto total = duration_cast<std::chrono::seconds>(elapsed).count();
  const auto hours = total / 3600;
  const auto minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

std::string summary_line(const Sample& end) {
  if (payload_bytes(end.stats) == 0)
    return fmt::format("nothing had to be moved, in {:.2f} s", duration<double>(end.elapsed).count());
  const auto rate = BitRate::from_bytes_per(payload_bytes(end.stats), end.elapsed);
  return fmt::format("{} in {:.2f} s, {} ({}){}", payload_text(end.stats), duration<double>(end.elapsed).count(),
                     core::format_rate(rate), core::format_bit_rate(rate), path_text(end.stats));
}

std::string stats_text(const Sample& now) {
  return fmt::format("{} in {}{}", payload_text(now.stats), clock_text(now.elapsed), path_text(now.stats));
}

}  // namespace udtcat::tool
