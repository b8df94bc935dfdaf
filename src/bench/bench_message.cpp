// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_message.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/core/stats_fields.hpp"
#include "lib/core/try.hpp"
#include "tool/status/json.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat {

/// In the order of an answer.
template <>
inline constexpr auto core::kFields<bench::BenchCounters> = std::tuple_cat(
    std::tuple{
        core::counter<core::kInBench>("taken_bytes", &bench::BenchCounters::taken_bytes, core::FieldUnit::bytes),
        core::counter<core::kInBench>("taking", &bench::BenchCounters::taking, core::FieldUnit::seconds),
    },
    core::kFields<TransportStats>,
    std::tuple{
        core::counter<core::kInBench>("cpu", &bench::BenchCounters::cpu, core::FieldUnit::seconds),
        core::counter<core::kInBench>("event_loop", &bench::BenchCounters::event_loop, core::FieldUnit::seconds),
        core::counter<core::kInBench>("cipher", &bench::BenchCounters::cipher, core::FieldUnit::seconds),
        core::counter<core::kInBench>("socket_drops", &bench::BenchCounters::socket_drops, core::FieldUnit::packets),
        core::gauge<core::kInBench>("packet_bytes", &bench::BenchCounters::packet_bytes, core::FieldUnit::bytes),
    });
static_assert(core::lists_all_members<bench::BenchCounters, TransportStats>());

}  // namespace udtcat

namespace udtcat::bench {

namespace {

using tool::Json;

constexpr std::uint64_t kBenchVersion = 1;                          // spec: docs/spec/bench.md §2
constexpr std::uint64_t kMaxBenchNumber = std::uint64_t{1} << 53U;  // spec: docs/spec/bench.md §2

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
    const auto flat = [&deep](int depth, Json::parse_event_t, const Json&) {
      constexpr int kInObject = 1;
      deep = deep || depth > kInObject;
      return !deep;
    };
    Json json = Json::parse(line, flat, false);
    if (json.is_discarded() || deep || !json.is_object()) return no_message("it is no flat JSON object");
    BenchReader reader(std::move(json));
    if (reader.number("version") != kBenchVersion) return no_message("it is of another version");
    return reader;
  }

  /// 0 where there is none.
  [[nodiscard]] std::uint64_t number(const std::string& key) {
    const auto found = json_.find(key);
    if (found == json_.end()) return 0;
    const std::uint64_t value = found->is_number_unsigned() ? found->get<std::uint64_t>() : kMaxBenchNumber + 1;
    ok_ = ok_ && value <= kMaxBenchNumber;
    return ok_ ? value : 0;
  }
  [[nodiscard]] Status status() const { return ok_ ? Status{} : no_message("a number is none, or too large"); }

 private:
  explicit BenchReader(Json json) : json_(std::move(json)) {}

  Json json_;
  bool ok_ = true;
};

}  // namespace

BenchCounters since(const BenchCounters& before, const BenchCounters& now) { return core::growth(before, now); }

BenchCounters bench_counters(const ConnectionStats& stats) {
  const EndStats& end = stats.ends.here;
  BenchCounters made{static_cast<const TransportStats&>(stats)};
  made.cpu = tool::process_cpu_time();
  made.event_loop = end.event_loop.had;
  made.cipher = end.cipher.had;
  made.socket_drops = end.socket_drops;
  made.packet_bytes = end.packet_bytes;
  return made;
}

std::string to_json(const BenchRequest& request) {
  Json json;
  json["version"] = kBenchVersion;
  json["number"] = request.number;
  json["seconds"] = static_cast<std::uint64_t>(request.sends_for.count());
  return json.dump();
}

std::string to_json(const BenchResponse& response) {
  Json json;
  json["version"] = kBenchVersion;
  json["number"] = response.number;
  json["cores"] = response.cores;
  tool::add_fields<core::kInBench>(json, core::kFields<BenchCounters>, response.counters);
  return json.dump();
}

Result<BenchRequest> parse_bench_request(std::string_view line) {
  UDTCAT_TRY(BenchReader reader, BenchReader::of(line));
  const BenchRequest request{.number = reader.number("number"),
                             .sends_for = std::min(std::chrono::seconds(reader.number("seconds")), kMaxBenchTime)};
  UDTCAT_CHECK(reader.status());
  return request;
}

Result<BenchResponse> parse_bench_response(std::string_view line) {
  UDTCAT_TRY(BenchReader reader, BenchReader::of(line));
  BenchResponse response{.number = reader.number("number"), .cores = reader.number("cores"), .counters = {}};
  tool::read_fields<core::kInBench>(core::kFields<BenchCounters>, response.counters,
                                    [&](const std::string& key) { return reader.number(key); });
  UDTCAT_CHECK(reader.status());
  return response;
}

}  // namespace udtcat::bench
