// SPDX-License-Identifier: Apache-2.0
#include "tool/status/snapshot.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

BitRate rate_of(std::uint64_t before, std::uint64_t now, std::chrono::nanoseconds time) {
  // A peer that reconnects keeps its number, but its counters start at 0.
  return BitRate::from_bytes_per(now - std::min(before, now), time);
}

std::string peer_lines(const PeerSnapshot& peer) {
  std::string name = peer.name.empty() ? peer.address : peer.name + " " + peer.address;
  if (peer.stats.transport == TransportKind::tcp) name += ", by TCP";
  const Sample sample{peer.stats, peer.age};
  const bool silent = peer.stats.silence.count() > 0;
  const std::string pair = !peer.selected_pair ? "" : "    selected pair: " + peer.selected_pair->text + '\n';
  const std::string limit = peer.limited_by.text.empty() ? "" : "    " + peer.limited_by.text + '\n';
  return fmt::format("  {}\n{}    {}, {}, {}\n{}", name, pair, core::format_count(peer.stats.streams_open, "stream"),
                     silent ? silence_text(peer.stats) : core::format_rate(peer.rate), stats_text(sample), limit);
}

/// One peer may have several sessions. By its name, or else by its host; of those left out neither is known.
std::string peers_text(const ProcessSnapshot& snapshot) {
  const std::size_t sessions = snapshot.peers.size() + snapshot.peers_left_out;
  std::set<std::string> who;
  for (const PeerSnapshot& peer : snapshot.peers)
    who.insert(peer.name.empty() ? peer.address.substr(0, peer.address.rfind(':')) : peer.name);
  if (who.size() == sessions) return core::format_count(sessions, "peer");
  const std::string text = core::format_count(sessions, "session");
  return snapshot.peers_left_out > 0 ? text : fmt::format("{} of {}", text, core::format_count(who.size(), "peer"));
}

std::string refused_text(const std::vector<RefusalSnapshot>& refused) {
  std::string text;
  for (const RefusalSnapshot& kind : refused)
    text += fmt::format("  refused {}: {}, the last {} ago{}{}\n", kind.count, kind.reason, clock_text(kind.ago),
                        kind.last.empty() ? "" : ": ", kind.last);
  return text;
}

std::string pair_lines(const PairSnapshot& pair) {
  std::string text = fmt::format("  {} and {}, for {}\n", pair.connector, pair.listener, clock_text(pair.age));
  if (pair.port == 0 && !pair.by_tcp) return text;
  const std::string udp = pair.port == 0 ? "" : fmt::format("UDP port {}", pair.port);
  text += fmt::format("    relayed by {}{}{}: {} to the listener, {} to the connector", udp,
                      pair.port != 0 && pair.by_tcp ? " and " : "", pair.by_tcp ? "TCP" : "",
                      core::format_size(pair.bytes_from_connector), core::format_size(pair.bytes_from_listener));
  if (pair.over_rate_bytes > 0) text += fmt::format(", {} over the rate", core::format_size(pair.over_rate_bytes));
  if (pair.undelivered_datagrams > 0)
    text += fmt::format(", {} not delivered", core::format_count(pair.undelivered_datagrams, "datagram"));
  return text + '\n';
}

std::string place_text(const PlaceSnapshot& place) {
  std::string text = fmt::format("  {}, {}\n", core::format_count(place.registrations, "registration"),
                                 core::format_count(place.pairs.size(), "pair"));
  for (const PairSnapshot& pair : place.pairs) text += pair_lines(pair);
  return text;
}

std::string dialing_text(const DialingSnapshot& dialing) {
  return fmt::format("  dialling {} for {}{}{}\n", dialing.peer, clock_text(dialing.age),
                     dialing.reason.empty() ? "" : ": ", dialing.reason);
}

}  // namespace

PeerSnapshot snapshot_of(std::uint64_t number, const Endpoint& address, const ConnectionStats& stats) {
  return {.number = number,
          .name = {},
          .address = address.to_string(),
          .age = std::chrono::steady_clock::now() - stats.made_at,
          .stats = stats,
          .rate = {},
          .limited_by = {},
          .selected_pair = in_words(stats.selected_pair)};
}

std::chrono::microseconds process_cpu_time() {
  rusage usage{};
  std::ignore = ::getrusage(RUSAGE_SELF, &usage);  // fails for no valid argument
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

void Rates::set(ProcessSnapshot& snapshot, TimePoint now) {
  const bool first = at_ == TimePoint{};
  std::map<std::uint64_t, Before> peers;
  for (PeerSnapshot& peer : snapshot.peers) {
    const std::uint64_t moved = payload_bytes(peer.stats);
    const BothEndsStats& ends = peer.stats.ends;
    const auto before = peers_.find(peer.number);
    const bool is_new = before == peers_.end();
    const std::uint64_t moved_before = is_new ? 0 : before->second.bytes;
    peer.rate = rate_of(moved_before, moved, is_new ? peer.age : now - at_);
    peer.limited_by = why_since(is_new ? BothEndsStats{} : before->second.ends, ends);
    // Of an idle peer the diagnosis would name whatever stands still; a consumer is waited for though nothing moves.
    if (moved == moved_before && !peer.limited_by.word.ends_with("consumer")) peer.limited_by = {};
    peers.emplace(peer.number, Before{moved, ends});
  }
  const std::uint64_t all = payload_bytes(snapshot.all);
  snapshot.rate = first ? rate_of(0, all, snapshot.age) : rate_of(all_bytes_, all, now - at_);
  peers_ = std::move(peers);
  all_bytes_ = all;
  at_ = now;
}

std::string to_text(const ProcessSnapshot& snapshot) {
  const std::string service = snapshot.service.empty() ? "" : snapshot.service + ": ";
  std::string text =
      fmt::format("{}{} (pid {}, for {})\n", service, snapshot.what, snapshot.pid, clock_text(snapshot.age));
  for (const std::string& place : snapshot.listening) text += "  listening on " + place + '\n';
  for (const std::string& place : snapshot.forwarding) text += "  forwarding " + place + '\n';
  text +=
      fmt::format("  {}, {}, {}\n", peers_text(snapshot), core::format_rate(snapshot.rate), payload_text(snapshot.all));
  if (snapshot.clients_waiting > 0)
    text += fmt::format("  {} waiting for a session\n", core::format_count(snapshot.clients_waiting, "client"));
  if (snapshot.dialing) text += dialing_text(*snapshot.dialing);
  text += refused_text(snapshot.refused);
  if (snapshot.place) text += place_text(*snapshot.place);
  for (const PeerSnapshot& peer : snapshot.peers) text += peer_lines(peer);
  if (snapshot.peers_left_out > 0) text += fmt::format("  and {} slower ones\n", snapshot.peers_left_out);
  return text;
}

std::string to_sentence(const ProcessSnapshot& snapshot) {
  const std::string rate = core::format_rate(snapshot.rate);
  if (!snapshot.place) return fmt::format("{}, {}", peers_text(snapshot), rate);
  return fmt::format("{}, {}, {}", core::format_count(snapshot.place->registrations, "registration"),
                     core::format_count(snapshot.place->pairs.size(), "pair"), rate);
}

}  // namespace udtcat::tool
