// SPDX-License-Identifier: Apache-2.0
#include "wan/link_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

using core::parse_size;
using std::chrono::nanoseconds;

struct Number {
  double value;
  std::string_view unit;
};

std::optional<Number> split(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number.value, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number.value) || number.value < 0) return std::nullopt;
  number.unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  return number;
}

tl::unexpected<Error> bad(std::string_view kind, std::string_view text, std::string allowed) {
  return fail(Errc::bad_argument, std::string(kind) + " \"" + std::string(text) + "\"", "allowed: " + allowed);
}

Result<double> parse_burst(std::string_view text) {
  const auto number = split(text);
  if (!number || !number->unit.empty() || (number->value != 0 && number->value < 1))
    return bad("burst", text, "the mean number of segments lost in a row, 1 or more; 0 for independent losses");
  return number->value;
}

Result<BitRate> parse_link_rate(std::string_view text) {
  constexpr std::uint64_t kMaxBits = 1'000'000'000'000;  // a byte takes eight picoseconds then, the clock of the model
  auto rate = core::parse_rate(text);
  if (rate && rate->bits_per_second() > kMaxBits) return bad("rate", text, "up to 1000G");
  return rate;
}

using Apply = Status (*)(LinkSettings& link, std::string_view value);

/// Parses and assigns.
template <auto kMember, auto kParse>
Status assign(LinkSettings& link, std::string_view value) {
  UDTCAT_TRY(link.*kMember, kParse(value));
  return {};
}

Status set_rate(LinkSettings& link, std::string_view value) {
  link.trace = nullptr;
  return assign<&LinkSettings::rate, parse_link_rate>(link, value);
}

Status set_trace(LinkSettings& link, std::string_view value) {
  if (value.empty()) return {};
  UDTCAT_TRY(link.trace, Trace::load(std::string(value)));
  link.rate = link.trace->mean_rate();
  return {};
}

Status set_rtt(LinkSettings& link, std::string_view value) {
  UDTCAT_TRY(const nanoseconds rtt, parse_delay(value));
  link.delay = rtt / 2;
  return {};
}

Status set_queue(LinkSettings& link, std::string_view value) {
  const auto bytes = core::parse_size(value);
  const auto time = parse_delay(value);
  if (!bytes && !time) return bad("queue", value, "bytes up to 1GiB, as in 64KiB, or a time up to 60s, as in 5ms");
  if (bytes && *bytes > kMostQueueBytes) return bad("queue", value, "up to 1GiB");
  link.queue_bytes = bytes ? std::optional<std::size_t>(*bytes) : std::nullopt;
  link.queue_time = bytes ? std::nullopt : std::optional(*time);
  return {};
}

Result<bool> parse_qdisc(std::string_view text) {
  if (text == "codel" || text == "droptail") return text == "codel";
  return bad("queue discipline", text, "droptail, codel");
}

/// An interval, by which others are divided.
Result<nanoseconds> parse_codel_time(std::string_view text) {
  UDTCAT_TRY(const nanoseconds time, parse_delay(text));
  if (time < std::chrono::microseconds(1)) return bad("time", text, "1us or more");
  return time;
}

Status set_codel_target(LinkSettings& link, std::string_view value) {
  UDTCAT_TRY(link.codel_settings.target, parse_codel_time(value));
  return {};
}

Status set_codel_interval(LinkSettings& link, std::string_view value) {
  UDTCAT_TRY(link.codel_settings.interval, parse_codel_time(value));
  return {};
}

struct Setting {
  std::string_view name;
  Apply apply;
  std::string_view text;
};

constexpr std::array kSettings{
    Setting{"rate", set_rate, "bits per second of IP bytes: 10G, 100M; unlimited by default"},
    Setting{
        "trace", set_trace,
        "FILE[,FILE]: a rate that varies, in mahimahi's format: each line the time in milliseconds of an opportunity "
        "to deliver 1500 bytes; repeated"},
    Setting{"rtt", set_rtt, "round-trip time: 75ms, 500us"},
    Setting{"loss", assign<&LinkSettings::loss, parse_share>, "share of segments lost: 0.1%"},
    Setting{"burst", assign<&LinkSettings::burst_length, parse_burst>,
            "mean number of segments lost in a row; independent losses by default"},
    Setting{"reorder", assign<&LinkSettings::reorder, parse_share>, "share of segments that come late"},
    Setting{"reorder-delay", assign<&LinkSettings::reorder_delay, parse_delay>, "how late those come: 3ms"},
    Setting{"duplicate", assign<&LinkSettings::duplicate, parse_share>, "share of segments that come twice"},
    Setting{"queue", set_queue,
            "bytes or time that wait before the link, then tail drop: 1MiB, 5ms; a bandwidth-delay product by default"},
    Setting{"qdisc", assign<&LinkSettings::codel, parse_qdisc>,
            "discipline of the queue: droptail, which is the default, or codel, RFC 8289"},
    Setting{"codel-target", set_codel_target, "the wait that CoDel allows; 5ms by default"},
    Setting{"codel-interval", set_codel_interval, "how long it may be longer; 100ms by default"},
    Setting{"police", assign<&LinkSettings::police_rate, parse_link_rate>,
            "bits per second that pass; what comes faster is dropped, not queued: 20M"},
    Setting{"police-burst", assign<&LinkSettings::police_burst_bytes, parse_size>,
            "bytes that pass at once, the policer's bucket: 1MB; by default a tenth of a second of the rate, at least "
            "64 KiB"},
    Setting{"per-flow-rate", assign<&LinkSettings::flow_rate, parse_link_rate>,
            "the same for each flow of TCP or UDP by itself, told by its 5-tuple; all other packets are one flow: 1G"},
    Setting{"per-flow-burst", assign<&LinkSettings::flow_burst_bytes, parse_size>,
            "bytes of a flow that pass at once; by default as with a policer"},
    Setting{"release", assign<&LinkSettings::release, parse_release>,
            "MS[-MS]: arrivals wait for each other, and come together so often, as in Wi-Fi's aggregates: 4-20"},
    Setting{"drop-above", assign<&LinkSettings::drop_above_bytes, parse_size>,
            "IP packets longer than this vanish: a path MTU black hole"}};

/// A policer's bucket.
std::size_t default_burst_bytes(BitRate rate) {
  constexpr std::uint64_t kShareOfASecond = 10;  // guess: routers' defaults are 30 to 250 ms
  return std::max<std::size_t>(kMiB / 16, rate.bytes_per_second() / kShareOfASecond);
}

}  // namespace

std::size_t LinkSettings::effective_queue_bytes() const {
  if (queue_bytes) return *queue_bytes;
  const double round_trip_seconds = 2 * std::chrono::duration<double>(delay).count();
  return static_cast<std::size_t>(std::clamp(static_cast<double>(rate.bytes_per_second()) * round_trip_seconds,
                                             double{kLeastQueueBytes}, double{kMostQueueBytes}));
}

std::size_t LinkSettings::effective_police_burst_bytes() const {
  return police_burst_bytes.value_or(default_burst_bytes(police_rate));
}

std::size_t LinkSettings::effective_flow_burst_bytes() const {
  return flow_burst_bytes.value_or(default_burst_bytes(flow_rate));
}

Result<nanoseconds> parse_delay(std::string_view text) {
  const auto number = split(text);
  const double factor = !number                ? 0
                        : number->unit == "us" ? 1e3
                        : number->unit == "ms" ? 1e6
                        : number->unit == "s"  ? 1e9
                        : number->value == 0   ? 1
                                               : 0;
  constexpr double kMaxNanoseconds = 60e9;
  if (factor == 0 || number->value * factor > kMaxNanoseconds)
    return bad("time", text, "a number with us, ms or s, up to 60s");
  return nanoseconds(static_cast<std::int64_t>(std::llround(number->value * factor)));
}

Result<double> parse_share(std::string_view text) {
  const auto number = split(text);
  if (!number || (number->unit != "%" && number->value != 0) || number->value > 100)
    return bad("share", text, "a percentage from 0 to 100%, as in 0.1%");
  return number->value / 100;
}

Result<ReleaseInterval> parse_release(std::string_view text) {
  const auto parse_time = [](std::string_view half) {
    const auto number = split(half);
    return number && number->unit.empty() ? parse_delay(std::string(half) + "ms") : parse_delay(half);
  };
  const auto dash = text.find('-');
  const auto least = parse_time(text.substr(0, dash));
  const auto most = dash == std::string_view::npos ? least : parse_time(text.substr(dash + 1));
  constexpr auto kShortest = std::chrono::microseconds(100);  // guess: a tenth of what the lab is woken by
  const bool is_off = least && most && most->count() == 0;
  if (!least || !most || *least > *most || (*least < kShortest && !is_off))
    return bad("release", text, "milliseconds, 0.1 or more, or a range of them, as in 4-20; 0 for none");
  return ReleaseInterval{*least, *most};
}

Result<std::size_t> parse_path(std::string_view text, std::size_t paths) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || number < 1 || number > paths)
    return bad("path", text, "a number from 1 to " + std::to_string(paths));
  return number - 1;
}

Status check(const PathSettings& path) {
  for (const LinkSettings& link : {path.out, path.back})
    if (link.burst_length > 0 && link.loss < 1 && link.loss > link.burst_length / (link.burst_length + 1))
      return fail(Errc::bad_argument, "loss in bursts",
                  "a burst of N is followed by a segment at least: allowed is up to N / (N + 1) of all, or 100%");
  return {};
}

std::vector<SettingHelp> settings() {
  std::vector<SettingHelp> all;
  for (const Setting& setting : kSettings) all.push_back({std::string(setting.name), std::string(setting.text)});
  return all;
}

Status set(PathSettings& path, std::string_view name, std::string_view value) {
  const auto setting = std::ranges::find(kSettings, name, &Setting::name);
  if (setting == kSettings.end()) {
    std::string allowed;
    for (const Setting& known : kSettings) allowed += (allowed.empty() ? "" : ", ") + std::string(known.name);
    return fail(Errc::bad_argument, "setting \"" + std::string(name) + "\"", "allowed: " + allowed);
  }
  if (value.empty()) return bad(name, value, "a value");
  const auto between = value.find(name == "trace" ? ',' : '/');
  PathSettings changed = path;
  UDTCAT_CHECK(setting->apply(changed.out, value.substr(0, between)));
  UDTCAT_CHECK(setting->apply(changed.back, between == std::string_view::npos ? value : value.substr(between + 1)));
  path = std::move(changed);
  return {};
}

Status set(std::vector<PathSettings>& paths, std::string_view name, std::string_view value) {
  const auto colon = name.find(':');
  std::vector<PathSettings> changed = paths;
  if (colon == std::string_view::npos) {
    for (PathSettings& path : changed) UDTCAT_CHECK(set(path, name, value));
  } else {
    UDTCAT_TRY(const std::size_t path, parse_path(name.substr(0, colon), paths.size()));
    UDTCAT_CHECK(set(changed[path], name.substr(colon + 1), value));
  }
  paths = std::move(changed);
  return {};
}

Status set_of_one_path(std::vector<PathSettings>& paths, std::string_view assignment) {
  const auto colon = assignment.find(':');
  const auto equals = assignment.find('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
    return bad("setting of a path", assignment, "PATH:NAME=VALUE, as in 2:loss=5%");
  return set(paths, assignment.substr(0, equals), assignment.substr(equals + 1));
}

}  // namespace udtcat::wan
