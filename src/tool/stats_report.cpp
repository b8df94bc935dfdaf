#include "tool/stats_report.hpp"

#include <tuple>

#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <udtcat/units.hpp>

namespace udtcat::tool {

using Json = nlohmann::ordered_json;

std::string to_json(const RunReport& report) {
  using Seconds = std::chrono::duration<double>;
  const ConnectionStats& stats = report.end.stats;
  const auto rate = BitRate::from_bytes_per(stats.bytes_sent + stats.bytes_received, report.end.elapsed);
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
  json["exit_status"] = to_int(report.exit_status);
  json["exit_reason"] = report.exit_reason;
  // A name or a path may hold any bytes: what is no UTF-8 is replaced, never thrown about.
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
