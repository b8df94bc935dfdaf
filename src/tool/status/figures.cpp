// SPDX-License-Identifier: Apache-2.0
#include "tool/status/figures.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <udtcat/units.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using namespace std::chrono_literals;

/// ", RTT 75.1 ms, 0.50 % lost", as far as it is known; nothing where nobody has counted packets, as over TCP.
std::string path_text(const ConnectionStats& stats) {
  const std::string rtt = stats.rtt ? ", " + rtt_text(stats) : "";
  // Of an end that receives they are a few of its own, and say little.
  if (stats.packets_sent == 0 || stats.bytes_sent < stats.bytes_received) return rtt;
  return rtt + fmt::format(", {:.2f} % lost", lost_per_cent(stats));
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

std::string figures_text(const Sample& now) {
  return fmt::format("{} in {}{}", payload_text(now.stats), clock_text(now.elapsed), path_text(now.stats));
}

ConnectionStats sum(const ConnectionStats& so_far, const ConnectionStats& latest) {
  ConnectionStats total = latest;
  total.streams_open += so_far.streams_open;
  total.bytes_sent += so_far.bytes_sent;
  total.bytes_received += so_far.bytes_received;
  total.bytes_arrived += so_far.bytes_arrived;
  total.bytes_carried += so_far.bytes_carried;
  total.blocks_sent += so_far.blocks_sent;
  total.blocks_received += so_far.blocks_received;
  total.streams_opened += so_far.streams_opened;
  total.packets_sent += so_far.packets_sent;
  total.packets_lost += so_far.packets_lost;
  total.packets_resent += so_far.packets_resent;
  total.packets_late += so_far.packets_late;
  return total;
}

using Json = nlohmann::ordered_json;

std::string to_json(const RunReport& report) {
  using Seconds = std::chrono::duration<double>;
  const ConnectionStats& stats = report.end.stats;
  const auto rate = BitRate::from_bytes_per(payload_bytes(stats), report.end.elapsed);
  Json json;
  json["bytes_sent"] = stats.bytes_sent;
  json["bytes_received"] = stats.bytes_received;
  json["seconds"] = Seconds(report.end.elapsed).count();
  json["rate_bits_per_second"] = rate.bits_per_second();
  json["rtt_us"] = stats.rtt ? Json(stats.rtt->count()) : Json(nullptr);
  json["packets_sent"] = stats.packets_sent;
  json["packets_lost"] = stats.packets_lost;
  json["packets_resent"] = stats.packets_resent;
  json["blocks_sent"] = stats.blocks_sent;
  json["blocks_received"] = stats.blocks_received;
  json["lanes"] = stats.lanes;
  json["threads"] = stats.threads;
  json["flows"] = stats.flows;
  json["cpu_seconds"] = Seconds(report.cpu).count();
  json["cipher"] = stats.cipher ? Json(to_string(*stats.cipher)) : Json(nullptr);
  json["protection"] = to_string(report.protection);
  json["transport"] = to_string(report.transport);
  json["congestion"] = to_string(report.congestion);
  json["peer"] = report.peer.empty() ? Json(nullptr) : Json(report.peer);
  json["peer_name"] = report.peer_name.empty() ? Json(nullptr) : Json(report.peer_name);
  json["exit_status"] = to_int(report.exit_status);
  json["exit_reason"] = report.exit_reason;
  json["limited_by"] = report.limited_by.word.empty() ? Json(nullptr) : Json(report.limited_by.word);
  json["limited_by_text"] = report.limited_by.text;
  // A name or a path may hold any bytes: what is no UTF-8 is replaced.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::chrono::microseconds process_cpu_time() {
  rusage usage{};
  std::ignore = ::getrusage(RUSAGE_SELF, &usage);  // fails for no valid argument
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

}  // namespace udtcat::tool
