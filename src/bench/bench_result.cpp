// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_result.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lib/core/stats_fields.hpp"
#include "lib/core/user_text.hpp"
#include "tool/status/json.hpp"
#include "tool/status/selected_pair_text.hpp"

namespace udtcat::bench {

namespace {

using std::chrono::microseconds;
using tool::Json;

constexpr const char* kRow = "{:<7}{:<29}{:<10}{:<10}{:<13}{:<24}{}\n";

std::optional<double> share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

std::string percent_text(std::optional<double> share) { return share ? fmt::format("{:.2f} %", 100 * *share) : "-"; }

std::string time_text(std::optional<microseconds> time) {
  if (!time) return "-";
  const double ms = std::chrono::duration<double, std::milli>(*time).count();
  return fmt::format("{:.{}f} ms", ms, ms < 1 ? 3 : 1);
}

std::string cores_text(const BenchResult& result) {
  const auto count = [](std::uint64_t cores) { return fmt::format("{} {}", cores, cores == 1 ? "core" : "cores"); };
  if (result.cores_there == 0) return count(result.cores_here) + " here";
  return fmt::format("{} here, {} there", count(result.cores_here), result.cores_there);
}

std::string head_line(const BenchResult& result) {
  std::string text = fmt::format("udtcat bench: {}", result.peer);
  if (result.idle_rtts.median())
    text += fmt::format(", round trip {} (at best {})", time_text(result.idle_rtts.median()),
                        time_text(result.idle_rtts.least()));
  // The size that both directions carry.
  std::uint64_t packet_bytes = 0;
  for (const DirectionResult& each : result.directions)
    if (const auto bytes = each.sender().packet_bytes; bytes > 0)
      packet_bytes = packet_bytes == 0 ? bytes : std::min(packet_bytes, bytes);
  if (packet_bytes > 0) text += fmt::format(", {}-byte packets", packet_bytes);
  text += fmt::format(", {}", to_string(result.protection));
  if (result.transport != TransportKind::native) text += fmt::format(", over {}", to_string(result.transport));
  if (result.flows > 1) text += fmt::format(", {} flows", result.flows);
  return text + ", " + cores_text(result) + '\n';
}

const char* name_of(BenchDirection direction) { return direction == BenchDirection::out ? "out" : "back"; }

std::string row(const DirectionResult& each) {
  const double megabytes = static_cast<double>(each.rate().bits_per_second()) / 8e6;
  return fmt::format(
      fmt::runtime(kRow), name_of(each.direction),
      fmt::format("{:<15}{:.1f} MB/s", core::format_bit_rate(each.rate()), megabytes), percent_text(each.lost()),
      percent_text(each.late()), time_text(each.loaded.median()),
      fmt::format("{:.0f} %, {:.0f} % of a core", 100 * each.share(each.here.cpu), 100 * each.share(each.there.cpu)),
      fmt::format("{}, {}", each.here.socket_drops, each.there.socket_drops));
}

Json end_json(const DirectionResult& each, const BenchCounters& end) {
  Json json;
  json["cpu_seconds"] = tool::seconds_of(end.cpu);
  json["cores_busy"] = each.share(end.cpu);
  json["event_loop_busy"] = each.share(end.event_loop);
  json["cipher_cores_busy"] = each.share(end.cipher);
  json["socket_drops"] = end.socket_drops;
  return json;
}

Json direction_json(const DirectionResult& each) {
  Json json;
  json["bytes"] = each.receiver().taken_bytes;
  json["seconds"] = tool::seconds_of(each.receiver().taking);
  json["rate_bits_per_second"] = each.rate().bits_per_second();
  tool::add_fields<core::kInBenchOfSender>(json, core::kFields<TransportStats>, each.sender());
  tool::add_fields<core::kInBenchOfReceiver>(json, core::kFields<TransportStats>, each.receiver());
  json["share_lost"] = tool::json_of(each.lost());
  json["share_late"] = tool::json_of(each.late());
  json["packet_bytes"] = tool::or_null(each.sender().packet_bytes);
  json["loaded_rtt_us"] = tool::json_of(each.loaded.median());
  json["loaded_least_rtt_us"] = tool::json_of(each.loaded.least());
  json["here"] = end_json(each, each.here);
  json["there"] = end_json(each, each.there);
  json["limited_by"] = tool::or_null(each.limited_by.word);
  json["limited_by_text"] = each.limited_by.text;
  return json;
}

}  // namespace

std::optional<microseconds> RoundTrips::median() const {
  if (all.empty()) return std::nullopt;
  std::vector<microseconds> sorted = all;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

std::optional<microseconds> RoundTrips::least() const {
  return all.empty() ? std::nullopt : std::optional(*std::ranges::min_element(all));
}

BitRate DirectionResult::rate() const { return BitRate::from_bytes_per(receiver().taken_bytes, receiver().taking); }

std::optional<double> DirectionResult::lost() const { return share_of(sender().packets_lost, sender().packets_sent); }

std::optional<double> DirectionResult::late() const { return share_of(receiver().packets_late, sender().packets_sent); }

double DirectionResult::share(microseconds processor_time) const {
  if (elapsed.count() <= 0) return 0;
  return static_cast<double>(processor_time.count()) / static_cast<double>(elapsed.count());
}

tool::DiagnosisText why_of_bench(BothEndsStats ends) {
  constexpr auto kSource = static_cast<std::size_t>(StallReason::source);
  ends.here.stalled[kSource] = {};
  if (ends.there) ends.there->stalled[kSource] = {};
  return tool::why(ends);
}

std::string to_text(const BenchResult& result) {
  std::string text = head_line(result);
  if (result.selected_pair) text += fmt::format("selected pair: {}\n", to_string(*result.selected_pair));
  if (result.directions.empty()) return text;
  text += fmt::format(fmt::runtime(kRow), "", "rate", "lost", "late", "round trip", "processor here, there",
                      "socket drops here, there");
  for (const DirectionResult& each : result.directions) text += row(each);
  for (const DirectionResult& each : result.directions)
    text += fmt::format("{} {}\n", each.direction == BenchDirection::out ? "out: " : "back:", each.limited_by.text);
  // The text of `limited_by` may have two rates, which the last line explains.
  return text +
         "(rate: mean over the run; found: the most that the path carried lately; moved: mean while data were sent)\n";
}

std::string to_json(const BenchResult& result) {
  Json json;
  json["version"] = tool::kJsonVersion;
  json["peer"] = result.peer;
  json["protection"] = to_string(result.protection);
  json["cipher"] = tool::json_of(result.cipher);
  json["transport"] = to_string(result.transport);
  json["flows"] = result.flows;
  json["cores_here"] = result.cores_here;
  json["cores_there"] = tool::or_null(result.cores_there);
  json["selected_pair"] = tool::to_json(tool::in_words(result.selected_pair));
  json["rtt_us"] = tool::json_of(result.idle_rtts.median());
  json["least_rtt_us"] = tool::json_of(result.idle_rtts.least());
  for (const BenchDirection direction : {BenchDirection::out, BenchDirection::back}) {
    const auto found = std::ranges::find(result.directions, direction, &DirectionResult::direction);
    json[name_of(direction)] = found == result.directions.end() ? Json(nullptr) : direction_json(*found);
  }
  return tool::to_line(json);
}

}  // namespace udtcat::bench
