// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/path_cache.hpp"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "tool/cli/user_files.hpp"

namespace udtcat::tool {

namespace {

constexpr std::uint64_t kMaxRate = 1'000'000'000'000;     // guess: no line says more but by mistake
constexpr std::chrono::microseconds kMaxRtt{60'000'000};  // guess: the same
constexpr std::size_t kMaxPacketBytes = 65'535;           // spec: RFC 791

std::int64_t seconds_of(PathCache::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

PathCache::PathCache(std::filesystem::path file, std::function<Clock::time_point()> now)
    : file_(std::move(file)), now_(std::move(now)) {
  read();
}

void PathCache::read() {
  std::istringstream whole(read_cache_file(file_, kMaxFileBytes));
  for (std::string line; std::getline(whole, line);) take_line(line, now_());
  forget_oldest();
}

void PathCache::take_line(const std::string& line, Clock::time_point now) {
  std::istringstream words(line);
  std::string host;
  std::uint64_t rate = 0;
  std::int64_t rtt = 0;
  std::int64_t measured = 0;
  std::uint32_t cookie = 0;
  std::int64_t met = 0;
  if (!(words >> host >> rate >> rtt >> measured >> std::hex >> cookie >> std::dec >> met)) return;
  std::size_t packet = 0;
  std::int64_t found = 0;
  std::int64_t trains_lost = 0;
  if (!(words >> packet >> found >> trains_lost)) found = trains_lost = 0;
  const auto times = {measured, met, found, trains_lost};
  if (rate > kMaxRate || rtt < 0 || rtt > kMaxRtt.count() || packet > kMaxPacketBytes || std::min(times) < 0 ||
      std::max(times) > seconds_of(now))
    return;
  const auto at = [](std::int64_t seconds) { return Clock::time_point(std::chrono::seconds(seconds)); };
  const KnownPath path{BitRate::from_bits_per_second(rate), std::chrono::microseconds(rtt), cookie, packet};
  if (!changed_.contains(host))
    paths_.insert_or_assign(host, Entry{path, at(measured), at(met), at(found), at(trains_lost)});
}

PathCache::~PathCache() {
  if (!changed_.empty()) save();
}

std::optional<KnownPath> PathCache::find(const Endpoint& peer) {
  const auto found = paths_.find(peer.host_to_string());
  if (found == paths_.end()) return std::nullopt;
  const auto now = now_();
  const Entry& entry = found->second;
  const bool measured = now - entry.measured_at <= kLifetime;
  return KnownPath{.rate = measured ? entry.path.rate : BitRate(),
                   .rtt = entry.path.rtt,
                   .cookie = now - entry.met_at <= kLifetime ? entry.path.cookie : 0,
                   .packet_bytes = now - entry.packet_at <= kLifetime ? entry.path.packet_bytes : 0,
                   .loses_trains = now - entry.trains_lost_at <= kLifetime};
}

void PathCache::note(const Endpoint& peer, const KnownPath& path) {
  if (path.rate.unlimited() && path.cookie == 0 && path.packet_bytes == 0 && !path.loses_trains) return;
  Entry& entry = paths_[peer.host_to_string()];
  changed_.insert(peer.host_to_string());
  if (!path.rate.unlimited()) {
    entry.path.rate = path.rate;
    entry.path.rtt = path.rtt;
    entry.measured_at = now_();
  }
  if (path.cookie != 0) {
    entry.path.cookie = path.cookie;
    entry.met_at = now_();
  }
  if (path.packet_bytes > 0) {
    entry.path.packet_bytes = path.packet_bytes;
    entry.packet_at = now_();
  }
  // An hour after it was found out, not after it was last believed: then trains are tried again.
  if (path.loses_trains && now_() - entry.trains_lost_at > kLifetime) entry.trains_lost_at = now_();
  forget_oldest();
}

void PathCache::forget_oldest() {
  const auto older = [](const auto& one, const auto& other) { return one.second.latest() < other.second.latest(); };
  while (paths_.size() > kMaxPaths) {
    const auto oldest = std::ranges::min_element(paths_, older);
    changed_.erase(oldest->first);
    paths_.erase(oldest);
  }
}

void PathCache::save() {
  read();
  std::string text;
  for (const auto& [host, entry] : paths_)
    text +=
        fmt::format("{} {} {} {} {:x} {} {} {} {}\n", host, entry.path.rate.bits_per_second(), entry.path.rtt.count(),
                    seconds_of(entry.measured_at), entry.path.cookie, seconds_of(entry.met_at), entry.path.packet_bytes,
                    seconds_of(entry.packet_at), seconds_of(entry.trains_lost_at));
  replace_cache_file(file_, text);
}

std::shared_ptr<KnownPaths> users_path_cache() {
  const auto file = user_cache("paths");
  return file ? std::make_shared<PathCache>(*file, PathCache::Clock::now) : nullptr;
}

}  // namespace udtcat::tool
