// SPDX-License-Identifier: Apache-2.0
#include "tool/status/stats_json.hpp"

#include "lib/core/stats_fields.hpp"
#include "tool/status/json.hpp"

namespace udtcat::tool {

std::string to_json(const RunReport& report) {
  const ConnectionStats& stats = report.end.stats;
  Json json;
  add_fields<core::kInStats>(json, core::kPayloadFields, stats);
  json["seconds"] = seconds_of(report.end.elapsed);
  json["rate_bits_per_second"] = BitRate::from_bytes_per(payload_bytes(stats), report.end.elapsed).bits_per_second();
  add_fields<core::kInStats>(json, core::kConnectionFields, stats);
  json["cpu_seconds"] = seconds_of(report.cpu);
  json["cipher"] = json_of(stats.cipher);
  json["protection"] = json_of(report.protection);
  json["transport"] = json_of(report.transport);
  json["congestion"] = json_of(report.congestion);
  json["peer"] = or_null(report.peer);
  json["peer_name"] = or_null(report.peer_name);
  json["exit_status"] = to_int(report.exit_status);
  json["exit_reason"] = report.exit_reason;
  json["limited_by"] = or_null(report.limited_by.word);
  json["limited_by_text"] = report.limited_by.text;
  return to_line(json);
}

}  // namespace udtcat::tool
