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
void for_each_figure(Visit visit) {
  visit("taken_bytes", &BenchFigures::taken_bytes);
  visit("taking_us", &BenchFigures::taking);
  visit("packets_sent", &BenchFigures::packets_sent);
  visit("packets_lost", &BenchFigures::packets_lost);
  visit("packets_resent", &BenchFigures::packets_resent);
  visit("packets_late", &BenchFigures::packets_late);
  visit("cpu_us", &BenchFigures::cpu);
  visit("event_loop_us", &BenchFigures::event_loop);
  visit("cipher_us", &BenchFigures::cipher);
  visit("socket_drops", &BenchFigures::socket_drops);
  visit("packet_bytes", &BenchFigures::packet_bytes);
}

std::uint64_t number_of(std::uint64_t value) { return value; }
std::uint64_t number_of(microseconds value) { return static_cast<std::uint64_t>(value.count()); }

tl::unexpected<Error> no_message(const char* why) {
  return fail(Errc::protocol_violated, "read a message of a bench", why);
}

/// Of a hostile text: a value of the wrong kind is an error that the reader remembers.
class BenchReader {
 public:
  /// errors: Errc::protocol_violated
  [[nodiscard]] static Result<BenchReader> of(std::string_view line) {
    if (line.size() >= kMaxBenchLineBytes) return no_message("it is longer than 4 kB");
    // Not even one level: an object in the object is somebody else's.
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

BenchFigures since(const BenchFigures& before, const BenchFigures& now) {
  BenchFigures grown;
  for_each_figure(
      [&](const char*, auto figure) { grown.*figure = now.*figure - std::min(before.*figure, now.*figure); });
  grown.packet_bytes = now.packet_bytes;
  return grown;
}

BenchFigures bench_figures(const ConnectionStats& stats) {
  BenchFigures figures;
  figures.packets_sent = stats.packets_sent;
  figures.packets_lost = stats.packets_lost;
  figures.packets_resent = stats.packets_resent;
  figures.packets_late = stats.packets_late;
  figures.cpu = tool::process_cpu_time();
  figures.event_loop = stats.evidence.here.event_loop.had;
  figures.cipher = stats.evidence.here.cipher.had;
  figures.socket_drops = stats.evidence.here.socket_drops;
  figures.packet_bytes = stats.evidence.here.packet_bytes;
  return figures;
}

std::uint64_t usable_cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) return static_cast<std::uint64_t>(CPU_COUNT(&usable));
  return std::thread::hardware_concurrency();  // more cores than the set has bits for
}

std::string to_json(const BenchQuestion& question) {
  BenchJson json;
  json["version"] = kBenchVersion;
  json["number"] = question.number;
  json["seconds"] = static_cast<std::uint64_t>(question.sends_for.count());
  return json.dump();
}

std::string to_json(const BenchAnswer& answer) {
  BenchJson json;
  json["version"] = kBenchVersion;
  json["number"] = answer.number;
  json["cores"] = answer.cores;
  for_each_figure([&](const char* name, auto figure) { json[name] = number_of(answer.figures.*figure); });
  return json.dump();
}

Result<BenchQuestion> parse_bench_question(std::string_view line) {
  UDTCAT_TRY(BenchReader reader, BenchReader::of(line));
  const BenchQuestion question{.number = reader.number("number"),
                               .sends_for = std::chrono::seconds(reader.number("seconds"))};
  UDTCAT_CHECK(reader.status());
  return question;
}

Result<BenchAnswer> parse_bench_answer(std::string_view line) {
  UDTCAT_TRY(BenchReader reader, BenchReader::of(line));
  BenchAnswer answer{.number = reader.number("number"), .cores = reader.number("cores"), .figures = {}};
  for_each_figure([&](const char* name, auto figure) {
    auto& value = answer.figures.*figure;
    value = std::remove_reference_t<decltype(value)>(reader.number(name));
  });
  UDTCAT_CHECK(reader.status());
  return answer;
}

}  // namespace udtcat::bench
