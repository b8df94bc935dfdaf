// SPDX-License-Identifier: Apache-2.0
#include "fault/scenario.hpp"

#include <algorithm>
#include <sstream>

#include "fault/dice.hpp"

namespace udtcat::fault {

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMaxBytes = 3 * kKiB * kKiB;
constexpr std::uint64_t kBenchRate = 20'000'000;  // guess: of two cores that many runs share
constexpr milliseconds kBenchTime(3500);          // measured: with --seconds 1 each way

std::uint64_t draw_bytes(Dice& dice) {
  constexpr std::array<std::uint64_t, 6> kUpTo{0, 1000, 64 * kKiB, kKiB * kKiB, kKiB * kKiB, kMaxBytes};
  return dice.below(dice.pick(kUpTo) + 1);
}

bool carries_both_ways(Product product) { return product == Product::pipe || product == Product::forward; }

void draw_bytes(Dice& dice, Scenario& scenario) {
  const std::uint64_t bytes = draw_bytes(dice);
  if (scenario.product == Product::bench) return;  // it makes its own
  const bool is_sent = scenario.product == Product::put || scenario.product == Product::send;
  const bool is_fetched = scenario.product == Product::get || scenario.product == Product::receive;
  const std::uint64_t way = is_sent                               ? 0
                            : is_fetched                          ? 1
                            : carries_both_ways(scenario.product) ? dice.below(3)
                                                                  : dice.below(2);
  if (way != 1) scenario.bytes_out = bytes;
  if (way != 0) scenario.bytes_back = way == 2 ? draw_bytes(dice) : bytes;
}

/// How long the transfer takes, about.
milliseconds draw_pace(Dice& dice, Scenario& scenario) {
  constexpr std::array<unsigned, 4> kDurations{0, 0, 300, 1000};  // guess: long enough to be struck in the middle
  constexpr std::array<unsigned, 4> kDelays{0, 1, 10, 30};        // guess: from a machine room to a continent
  scenario.one_way_delay = milliseconds(dice.pick(kDelays));
  if (scenario.product == Product::bench) {
    scenario.rate_bits_per_second = kBenchRate;
    return kBenchTime;
  }
  const std::uint64_t bytes = std::max(scenario.bytes_out, scenario.bytes_back);
  const milliseconds wanted(dice.pick(kDurations));
  constexpr std::uint64_t kLeastRate = 1'000'000;
  if (wanted.count() > 0)
    scenario.rate_bits_per_second = std::max(kLeastRate, bytes * 8 * 1000 / static_cast<std::uint64_t>(wanted.count()));
  return wanted + 20 * scenario.one_way_delay + milliseconds(100);
}

Moment draw_moment(Dice& dice, const Scenario& scenario, milliseconds duration) {
  const std::uint64_t bytes = scenario.bytes_out + scenario.bytes_back;
  constexpr std::uint64_t kPayloadBytes = 1400;
  switch (dice.below(4)) {
    case 0:
      return {.after = milliseconds(dice.below(static_cast<std::uint64_t>(duration.count())))};
    case 1:
      return {.packets = dice.between(1, 40)};  // the handshakes
    case 2:
      return {.packets = dice.between(1, 40 + bytes / kPayloadBytes)};
    default:
      return {.share = dice.happens(0.4) ? 1.0 : dice.share()};  // at 1: fins and receipts are on their way
  }
}

/// Whether a fault can be done to what TCP carries, whose checksums stand.
bool strikes_tcp(Fault fault) { return fault != Fault::flip && fault != Fault::splice; }

bool needs_authenticated_payload(Fault fault) { return fault == Fault::flip || fault == Fault::splice; }

void draw_session(Dice& dice, Scenario& scenario) {
  constexpr std::array kLevels{Level::kPrivate, Level::kPrivate, Level::kSafe, Level::kAuth, Level::kClear};
  scenario.level = dice.pick(kLevels);
  // A level of the transfers' own: without a key nobody is let in.
  const bool has_clear =
      scenario.product == Product::pipe || scenario.product == Product::exec || scenario.product == Product::forward;
  if (scenario.level == Level::kClear && !has_clear) scenario.level = Level::kSafe;
  const bool payload_open = scenario.level == Level::kAuth || scenario.level == Level::kClear;
  if (payload_open && needs_authenticated_payload(scenario.fault)) scenario.level = Level::kSafe;
  scenario.flows = dice.happens(0.4) ? 3 : 1;
}

/// How the ends know, and how they find each other. Of rsh, ssh decides that.
void draw_meeting(Dice& dice, Scenario& scenario) {
  const bool is_gridftp = scenario.product == Product::get || scenario.product == Product::put;
  const bool has_key = scenario.level != Level::kClear;
  scenario.key_pairs = dice.happens(0.3) && has_key && scenario.product != Product::rsh;
  scenario.reverse = dice.happens(0.4) && scenario.product == Product::forward;
  if (is_gridftp || scenario.product == Product::rsh) return;
  scenario.via_place = dice.happens(0.25) && has_key;
  scenario.by_tcp = dice.happens(0.25) && strikes_tcp(scenario.fault);
}

}  // namespace

std::string_view name_of(Product product) {
  constexpr std::array<std::string_view, kProducts.size()> kNames{"pipe", "exec", "forward", "rsh",  "get",
                                                                  "put",  "send", "receive", "bench"};
  return kNames.at(static_cast<std::size_t>(product));
}

std::string_view name_of(Fault fault) {
  constexpr std::array<std::string_view, kFaults.size()> kNames{
      "none",      "kill",      "restart",    "stop",         "pause",      "hang-up",       "interrupt",
      "terminate", "full-disk", "black-hole", "one-way-hole", "brief-hole", "small-packets", "new-address",
      "drop",      "repeat",    "reorder",    "flip",         "splice"};
  return kNames.at(static_cast<std::size_t>(fault));
}

std::string_view name_of(Level level) {
  constexpr std::array<std::string_view, 4> kNames{"private", "safe", "auth", "clear"};
  return kNames.at(static_cast<std::size_t>(level));
}

Scenario draw(std::uint64_t seed) {
  Dice dice(seed);
  Scenario scenario{.seed = seed, .product = dice.pick(kProducts), .fault = dice.pick(kFaults)};
  const bool has_file = scenario.product != Product::forward && scenario.product != Product::bench;
  if (!has_file && scenario.fault == Fault::full_disk) scenario.fault = Fault::kill;
  scenario.victim = dice.happens(0.5) ? Side::near : Side::far;
  draw_session(dice, scenario);
  draw_meeting(dice, scenario);
  draw_bytes(dice, scenario);
  const milliseconds duration = draw_pace(dice, scenario);
  scenario.moment = draw_moment(dice, scenario, duration);
  scenario.lasts = milliseconds(dice.between(50, 2000));
  constexpr std::array kChances{0.003, 0.03, 0.2};  // guess: from what happens on good paths to what ends most sessions
  scenario.chance = dice.pick(kChances);
  scenario.command_sends = scenario.product == Product::exec && dice.happens(0.4);
  scenario.command_fails = scenario.product == Product::exec && dice.happens(0.15);
  return scenario;
}

std::string describe(const Scenario& scenario) {
  std::ostringstream text;
  text << "seed " << scenario.seed << ": " << name_of(scenario.product) << ", " << name_of(scenario.fault) << " of the "
       << (scenario.victim == Side::near ? "near" : "far") << " end after " << scenario.moment.after.count() << " ms, "
       << scenario.moment.packets << " packets and " << scenario.moment.share << " of the bytes, for "
       << scenario.lasts.count() << " ms, chance " << scenario.chance << "; " << name_of(scenario.level) << ", "
       << scenario.flows << " flows, " << scenario.bytes_out << " bytes out, " << scenario.bytes_back << " back, rate "
       << scenario.rate_bits_per_second << ", delay " << scenario.one_way_delay.count() << " ms"
       << (scenario.key_pairs ? ", key pairs" : "") << (scenario.by_tcp ? ", by TCP" : "")
       << (scenario.via_place ? ", via a place" : "") << (scenario.reverse ? ", the other way round" : "")
       << (scenario.command_sends ? ", a command sends" : "") << (scenario.command_fails ? ", a command fails" : "");
  return text.str();
}

}  // namespace udtcat::fault
