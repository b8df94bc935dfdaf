// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/random_link.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr double kLeastRate = 64e3;
constexpr double kMostRate = 10e9;
constexpr double kLeastRttS = 1e-3;
constexpr double kMostRttS = 0.7;
constexpr double kMostProductBytes = 64e6;
constexpr double kLeastQueueProducts = 0.05;
constexpr double kMostQueueProducts = 10;
constexpr double kJumboFromRate = 1e9;
constexpr std::size_t kLeastQueuePackets = 4;
constexpr double kLeastQueueS = 1e-4;  // no host paces finer
constexpr double kMostRadioRate = 1e9;
constexpr double kMostLoss = 0.3;
constexpr double kLeastLoss = 0.0003;
constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 30;  // never the limit

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
Duration of_seconds(double time) { return Duration(static_cast<std::int64_t>(time * 1e9)); }
double bits(const PathSettings& path) { return static_cast<double>(path.rate.bits_per_second()); }
double rtt_s(const PathSettings& path) { return 2 * seconds(path.delay); }
double product_bytes(const PathSettings& path) { return bits(path) / 8 * rtt_s(path); }
Duration packet_time(const PathSettings& path) { return of_seconds(static_cast<double>(path.mtu) * 8 / bits(path)); }
Duration queue_time(const PathSettings& path) {
  return of_seconds(static_cast<double>(path.queue_bytes) * 8 / bits(path));
}
/// Without a queue, of a full packet, late or held until a release.
Duration round_trip(const PathSettings& path) {
  return 2 * path.delay + packet_time(path) + path.release_most + 2 * path.reorder_delay;
}

/// Gives the same numbers on every platform: the distributions of the standard library do not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15U + 1) {}

  double between(double least, double most) {
    return least + (most - least) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  double log_between(double least, double most) {
    return least * std::exp(between(0, 1) * std::log(std::max(most / least, 1.0)));
  }
  bool chance(double probability) { return between(0, 1) < probability; }

 private:
  std::mt19937_64 random_;
};

BitRate rate_of(double bits) { return BitRate::from_bits_per_second(static_cast<std::uint64_t>(bits)); }

void add_loss(PathSettings& path, Dice& dice) {
  const double share = dice.log_between(kLeastLoss, kMostLoss);
  // A burst of losses lasts for a time: on a slow path it takes few packets.
  const double most = std::clamp(product_bytes(path) / static_cast<double>(path.mtu) / 4, 1.0, 10.0);
  const double burst = dice.chance(0.5) ? std::floor(dice.log_between(1, most)) : 1;
  path.loss_burst = static_cast<std::size_t>(burst);
  path.loss = share / (burst * (1 - share) + share);
}

void add_policer(PathSettings& path, Dice& dice) {
  const double rate = std::max(bits(path) * dice.log_between(0.1, 0.8), kLeastRate);
  path.policer_rate = rate_of(rate);
  const double bucket = rate / 8 * dice.log_between(0.02, 1);
  path.policer_bytes = std::max(static_cast<std::size_t>(bucket), 10 * path.mtu);
}

/// Releases as of a radio: the queue has to hold what comes from one to the next.
void add_releases(PathSettings& path, Dice& dice) {
  const double least = dice.between(0.001, 0.005);
  const double most = dice.between(0.005, 0.02);
  if (bits(path) > kMostRadioRate) return;
  path.release_least = of_seconds(least);
  path.release_most = of_seconds(most);
  path.queue_bytes = std::max(path.queue_bytes, static_cast<std::size_t>(bits(path) / 8 * most));
}

PathSettings stepped(PathSettings path, Dice& dice) {
  // The queue has as many bytes as before, and 0.05 to 10 bandwidth-delay products, but for the least queue.
  const auto queue = static_cast<double>(path.queue_bytes);
  const double least = queue / kMostQueueProducts;
  const double most = std::min(kMostProductBytes, std::max(queue / kLeastQueueProducts, product_bytes(path)));
  const double rate = bits(path) * dice.log_between(0.1, 10);
  const double rtt = rtt_s(path) * dice.log_between(0.25, 4);
  const double new_rate = std::clamp(rate, kLeastRate, std::min(kMostRate, queue * 8 / kLeastQueueS));
  double new_rtt = std::clamp(rtt, kLeastRttS, kMostRttS);
  new_rtt = std::clamp(new_rtt, std::min(least * 8 / new_rate, kMostRttS), std::max(most * 8 / new_rate, kLeastRttS));
  path.rate = rate_of(new_rate);
  path.delay = of_seconds(new_rtt / 2);
  path.reorder_delay = std::min(path.reorder_delay, 2 * path.delay);
  return path;
}

std::string rate_words(BitRate rate) {
  const auto bits = static_cast<double>(rate.bits_per_second());
  return bits >= 1e9   ? fmt::format("{:.3g} Gbit/s", bits / 1e9)
         : bits >= 1e6 ? fmt::format("{:.3g} Mbit/s", bits / 1e6)
                       : fmt::format("{:.3g} kbit/s", bits / 1e3);
}

std::string size_words(std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  return size >= 1e6 ? fmt::format("{:.3g} MB", size / 1e6) : fmt::format("{:.3g} kB", size / 1e3);
}

double milliseconds(Duration time) { return seconds(time) * 1e3; }

}  // namespace

RandomLink link_of(std::uint64_t seed) {
  Dice dice(seed);
  RandomLink link;
  link.seed = seed;
  PathSettings& path = link.first;
  const double rate = dice.log_between(kLeastRate, kMostRate);
  path.rate = rate_of(rate);
  path.mtu = rate > kJumboFromRate ? 9000 : 1500;
  path.delay = of_seconds(dice.log_between(kLeastRttS, std::min(kMostRttS, kMostProductBytes * 8 / rate)) / 2);
  const double queue = product_bytes(path) * dice.log_between(kLeastQueueProducts, kMostQueueProducts);
  const double least_queue = std::max(static_cast<double>(kLeastQueuePackets * path.mtu), rate / 8 * kLeastQueueS);
  path.queue_bytes = static_cast<std::size_t>(std::clamp(queue, least_queue, kMostProductBytes));
  if (dice.chance(0.5)) add_loss(path, dice);
  if (dice.chance(1.0 / 6)) {
    path.reorder = dice.between(0, 0.2);
    path.reorder_delay = of_seconds(rtt_s(path) * dice.between(0, 1));
  }
  if (dice.chance(1.0 / 6)) add_policer(path, dice);
  if (dice.chance(0.1)) add_releases(path, dice);
  if (dice.chance(0.25) && path.release_most == 0s) link.later = stepped(path, dice);
  return link;
}

std::string RandomLink::description() const {
  const auto of_path = [](const PathSettings& path) {
    return fmt::format("{}, {:.3g} ms, queue {:.3g} bdp ({})", rate_words(path.rate), milliseconds(2 * path.delay),
                       static_cast<double>(path.queue_bytes) / product_bytes(path), size_words(path.queue_bytes));
  };
  std::string text = of_path(first);
  if (first.loss > 0) text += fmt::format(", loss {:.2g} %", first.lost_share() * 100);
  if (first.loss_burst > 1) text += fmt::format(" in {}s", first.loss_burst);
  if (first.reorder > 0)
    text += fmt::format(", {:.2g} % late by {:.3g} ms", first.reorder * 100, milliseconds(first.reorder_delay));
  if (!first.policer_rate.unlimited())
    text += fmt::format(", policer {}/{}", rate_words(first.policer_rate), size_words(first.policer_bytes));
  if (first.release_most > 0s)
    text += fmt::format(", released each {:.2g} to {:.2g} ms", milliseconds(first.release_least),
                        milliseconds(first.release_most));
  if (later) text += fmt::format("; after {:.3g} s {}", seconds(step_at()), of_path(*later));
  return text;
}

Duration RandomLink::grace(const PathSettings& path) const {
  Duration longest = round_trip(path);
  Duration drains{0};
  if (later && path.rate == later->rate && path.delay == later->delay) {
    longest = std::max(longest, round_trip(first));
    drains = queue_time(path);
  }
  return 5s + 10 * longest + drains;
}

Duration RandomLink::asked(const PathSettings& path) const { return 5s + 10 * round_trip(path); }

Duration RandomLink::longest_silence() const {
  Duration longest = 5 * round_trip(first);
  // A retransmission waits behind what was queued at another rate.
  if (later) longest = std::max(longest, 5 * round_trip(*later) + queue_time(*later));
  return 1s + longest;
}

double goodput_bound(const PathSettings& path) {
  double rate = bits(path);
  if (!path.policer_rate.unlimited()) rate = std::min(rate, static_cast<double>(path.policer_rate.bits_per_second()));
  const double payload = 1 - static_cast<double>(kMssOverheadBytes) / static_cast<double>(path.mtu);
  return rate * payload * (1 - path.lost_share());
}

std::string LinkResult::line() const {
  return fmt::format("seed {:4}: {:5.1f} % of the bound, silent for {:6.2f} of {:6.2f} s, {:4.1f} % overflow: {}",
                     link.seed, share * 100, seconds(silence), seconds(link.longest_silence()), lost_share * 100,
                     link.description());
}

LinkResult run_over(const RandomLink& link) {
  TransportOptions options;
  options.memory_bytes = kMemoryBytes;
  SimulatedPath path(link.first, PeerKind::own, options, 1000, static_cast<std::uint32_t>(link.first.mtu));
  path.write_on(SimulatedPath::kNear);
  LinkResult result{link};
  const auto arrived = [&] { return path.at(SimulatedPath::kFar).stats().bytes_arrived; };
  const Duration slice = std::max<Duration>(link.longest_silence() / 50, 1ms);
  TimePoint heard_at = path.now();
  std::uint64_t heard = 0;
  const auto pass = [&](Duration time) {
    for (const TimePoint end = path.now() + time; path.now() < end;) {
      path.run_for(std::min(slice, end - path.now()));
      if (const std::uint64_t now_heard = arrived(); now_heard != heard) {
        heard = now_heard;
        heard_at = path.now();
      }
      result.silence = std::max(result.silence, path.now() - heard_at);
    }
  };
  const auto share_of = [&](const PathSettings& settings) {
    pass(link.grace(settings));
    const std::uint64_t before = arrived();
    const Duration time = link.asked(settings);
    pass(time);
    return static_cast<double>(arrived() - before) * 8 / seconds(time) / goodput_bound(settings);
  };
  result.share = share_of(link.first);
  if (link.later) {
    path.set_path(*link.later);
    result.share = std::min(result.share, share_of(*link.later));
  }
  const auto& counts = path.link(SimulatedPath::kNear).counts();
  result.packets = counts.taken;
  result.lost_share =
      static_cast<double>(counts.policed + counts.overflowed) / std::max(1.0, static_cast<double>(counts.taken));
  return result;
}

}  // namespace udtcat::transport::native
