// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_message.hpp"

#include <algorithm>
#include <optional>
#include <thread>

#include <sched.h>
#include <nlohmann/json.hpp>

#include "lib/core/try.hpp"
#include "tool/status/figures.hpp"

namespace udtcat::bench {

namespace {

using BenchJson = nlohmann::ordered_json;
using std::chrono::microseconds;

constexpr std::uint64_t kBenchVersion = 1;                          // spec: docs/spec/bench.md §2
constexpr std::uint64_t kMaxBenchNumber = std::uint64_t{1} << 53U;  // spec: docs/spec/bench.md §2

/// The one list of an answer's figures: calls `visit` with the name and the member of each.
template <typename Visit>
void for_each_counter(Visit visit) {
  visit("taken_bytes", &BenchCounters::taken_bytes);
  visit("taking_us", &BenchCounters::taking);
  visit("packets_sent", &BenchCounters::packets_sent);
  visit("packets_lost", &BenchCounters::packets_lost);
  visit("packets_resent", &BenchCounters::packets_resent);
  visit("packets_late", &BenchCounters::packets_late);
  visit("cpu_us", &BenchCounters::cpu);
  visit("event_loop_us", &BenchCounters::event_loop);
  visit("cipher_us", &BenchCounters::cipher);
  visit("socket_drops", &BenchCounters::socket_drops);
  visit("packet_bytes", &BenchCounters::packet_bytes);
}

std::uint64_t number_of(std::uint64_t value) { return value; }
std::uint64_t number_of(microseconds value) { return static_cast<std::uint64_t>(value.count()); }

tl::unexpected<Error> no_message(const char* why) {
  return fail(Errc::protocol_violated, "read a message of a bench", why);
}

/// Reads a hostile text: a value of the wrong type is a sticky error.
class BenchReader {
 public:
  /// errors: Errc::protocol_violated
  [[nodiscard]] static Result<BenchReader> of(std::string_view line) {
    if (line.size() >= kMaxBenchLineBytes) return no_message("it is longer than 4 kB");
    // The message is flat: a nested object is refused before it can use memory.
    bool deep = false;
    const auto flat = [&deep](int depth, BenchJson::parse_event_t, const BenchJson&) {
      constexpr int kInObject = 1;
      deep = deep || depth > kInObject;
      return !deep;
    };
    BenchJson json = BenchJson::parse(line, flat, false);
    if (json.is_discarded() || deep || !json.is_object()) return no_message("it is no flat JSON object");
    BenchReader reader(std::move(json));
    if (reader.number("version") != kBenchVersion) return no_message("it is of another version");
    return reader;
  }

  /// 0 where there is none.
  [[nodiscard]] std::uint64_t number(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) return 0;
    const std::uint64_t value = found->is_number_unsigned() ? found->get<std::uint64_t>() : kMaxBenchNumber + 1;
    ok_ = ok_ && value <= kMaxBenchNumber;
    return ok_ ? value : 0;
  }
  [[nodiscard]] Status status() const { return ok_ ? Status{} : no_message("a number is none, or too large"); }

 private:
  explicit BenchReader(BenchJson json) : json_(std::move(json)) {}

  BenchJson json_;
  bool ok_ = true;
};

}  // namespace

BenchCounters since(const BenchCounters& before, const BenchCounters& now) {
  BenchCounters grown;
  for_each_counter(
      [&](const char*, auto counter) { grown.*counter = now.*counter - std::min(before.*counter, now.*counter); });
  grown.packet_bytes = now.packet_bytes;
  return grown;
}

BenchCounters bench_counters(const ConnectionStats& stats) {
  BenchCounters counters;
  counters.packets_sent = stats.packets_sent;
  counters.packets_lost = stats.packets_lost;
  counters.packets_resent = stats.packets_resent;
  counters.packets_late = stats.packets_late;
  counters.cpu = tool::process_cpu_time();
  counters.event_loop = stats.evidence.here.event_loop.had;
  counters.cipher = stats.evidence.here.cipher.had;
  counters.socket_drops = stats.evidence.here.socket_drops;
  counters.packet_bytes = stats.evidence.here.packet_bytes;
  return counters;
}

std::uint64_t usable_cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) return static_cast<std::uint64_t>(CPU_COUNT(&usable));
  return std::thread::hardware_concurrency();  // more cores than the set has bits for
}

std::string to_json(const BenchRequest& request) {
  BenchJson json;
  json["version"] = kBenchVersion;
  json["number"] = request.number;
  json["seconds"] = static_cast<std::uint64_t>(request.sends_for.count());
  return json.dump();
}

std::string to_json(const BenchResponse& response) {
  BenchJson json;
  json["version"] = kBenchVersion;
  json["number"] = response.number;
  json["cores"] = response.cores;
  for_each_counter([&](const char* name, auto counter) { json[name] = number_of(response.counters.*counter); });
  return json.dump();
}

Result<BenchRequest> parse_bench_request(std::string_view line) {
  UDTCAT_TRY(BenchReader reader, BenchReader::of(line));
  const BenchRequest request{.number = reader.number("number"),
                             .sends_for = std::chrono::seconds(reader.number("seconds"))};
  UDTCAT_CHECK(reader.status());
  return request;
}

Result<BenchResponse> parse_bench_response(std::string_view line) {
  UDTCAT_TRY(BenchReader reader, BenchReader::of(line));
  BenchResponse response{.number = reader.number("number"), .cores = reader.number("cores"), .counters = {}};
  for_each_counter([&](const char* name, auto counter) {
    auto& value = response.counters.*counter;
    value = std::remove_reference_t<decltype(value)>(reader.number(name));
  });
  UDTCAT_CHECK(reader.status());
  return response;
}

}  // namespace udtcat::bench
