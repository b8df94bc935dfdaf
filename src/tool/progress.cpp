#include "tool/progress.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <udtcat/units.hpp>

namespace udtcat::tool {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::seconds;

std::uint64_t payload_bytes(const ConnectionStats& stats) { return stats.bytes_sent + stats.bytes_received; }

/// ", RTT 75.1 ms, 0.50 % lost", as far as it is known; nothing where nobody has counted packets, as over TCP.
std::string path_text(const ConnectionStats& stats) {
  const std::string rtt =
      stats.rtt ? fmt::format(", RTT {:.1f} ms", duration<double, std::milli>(*stats.rtt).count()) : "";
  if (stats.packets_sent == 0 && rtt.empty()) return "";
  const double lost = stats.packets_sent == 0
                          ? 0.0
                          : 100.0 * static_cast<double>(stats.packets_lost) / static_cast<double>(stats.packets_sent);
  return rtt + fmt::format(", {:.2f} % lost", std::min(lost, 100.0));
}

std::string bytes_text(const ConnectionStats& stats) {
  return fmt::format("{} sent, {} received", format_size(stats.bytes_sent), format_size(stats.bytes_received));
}

}  // namespace

std::string clock_text(std::chrono::nanoseconds elapsed) {
  const auto total = duration_cast<seconds>(elapsed).count();
  const auto hours = total / 3600;
  const auto minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

std::string progress_line(const Sample& before, const Sample& now) {
  // Figures of several connections together can fall when one of them has gone.
  const auto moved = std::max(payload_bytes(now.stats), payload_bytes(before.stats)) - payload_bytes(before.stats);
  const auto rate = BitRate::from_bytes_per(moved, now.elapsed - before.elapsed);
  return fmt::format("{}, {}, {}{}", bytes_text(now.stats), format_rate(rate), clock_text(now.elapsed),
                     path_text(now.stats));
}

std::string summary_line(const Sample& end) {
  const auto rate = BitRate::from_bytes_per(payload_bytes(end.stats), end.elapsed);
  return fmt::format("{} in {:.2f} s, {}{}", bytes_text(end.stats), duration<double>(end.elapsed).count(),
                     format_rate(rate), path_text(end.stats));
}

}  // namespace udtcat::tool
