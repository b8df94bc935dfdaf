// SPDX-License-Identifier: Apache-2.0
#include "wan/link_settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

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

/// Applies `assign` to each direction with what `parse` makes of its half of "A/B".
template <typename Parse, typename Assign>
Status set_both(PathSettings& path, std::string_view value, Parse parse, Assign assign) {
  const auto slash = value.find('/');
  const auto out = parse(value.substr(0, slash));
  if (!out) return tl::unexpected(out.error());
  const auto back = slash == std::string_view::npos ? out : parse(value.substr(slash + 1));
  if (!back) return tl::unexpected(back.error());
  assign(path.out, *out);
  assign(path.back, *back);
  return {};
}

}  // namespace

std::size_t LinkSettings::effective_queue_bytes() const {
  if (queue_bytes) return *queue_bytes;
  const double round_trip_seconds = 2 * std::chrono::duration<double>(delay).count();
  return std::max(kLeastQueueBytes,
                  static_cast<std::size_t>(static_cast<double>(rate.bytes_per_second()) * round_trip_seconds));
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

Status check(const PathSettings& path) {
  for (const LinkSettings& link : {path.out, path.back})
    if (link.burst_length > 0 && link.loss < 1 && link.loss > link.burst_length / (link.burst_length + 1))
      return fail(Errc::bad_argument, "loss in bursts",
                  "a burst of N is followed by a segment at least: allowed is up to N / (N + 1) of all, or 100%");
  return {};
}

Status set(PathSettings& path, std::string_view name, std::string_view value) {
  if (name == "rate")
    return set_both(path, value, parse_link_rate, [](LinkSettings& link, BitRate rate) { link.rate = rate; });
  if (name == "rtt")
    return set_both(path, value, parse_delay, [](LinkSettings& link, nanoseconds rtt) { link.delay = rtt / 2; });
  if (name == "loss")
    return set_both(path, value, parse_share, [](LinkSettings& link, double share) { link.loss = share; });
  if (name == "burst")
    return set_both(path, value, parse_burst, [](LinkSettings& link, double length) { link.burst_length = length; });
  if (name == "reorder")
    return set_both(path, value, parse_share, [](LinkSettings& link, double share) { link.reorder = share; });
  if (name == "reorder-delay")
    return set_both(path, value, parse_delay, [](LinkSettings& link, nanoseconds by) { link.reorder_delay = by; });
  if (name == "duplicate")
    return set_both(path, value, parse_share, [](LinkSettings& link, double share) { link.duplicate = share; });
  if (name == "queue")
    return set_both(path, value, core::parse_size,
                    [](LinkSettings& link, std::uint64_t bytes) { link.queue_bytes = bytes; });
  if (name == "drop-above")
    return set_both(path, value, core::parse_size,
                    [](LinkSettings& link, std::uint64_t bytes) { link.drop_above_bytes = bytes; });
  return fail(Errc::bad_argument, "setting \"" + std::string(name) + "\"",
              "allowed: rate, rtt, loss, burst, reorder, reorder-delay, duplicate, queue, drop-above");
}

}  // namespace udtcat::wan
