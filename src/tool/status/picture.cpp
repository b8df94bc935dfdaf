// SPDX-License-Identifier: Apache-2.0
#include "tool/status/picture.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lib/core/user_text.hpp"
#include "tool/status/figures.hpp"
#include "tool/status/why.hpp"

namespace udtcat::tool {

namespace {

BitRate rate_of(std::uint64_t before, std::uint64_t now, std::chrono::nanoseconds time) {
  // A peer's number is its own, and yet its figures may begin anew.
  return BitRate::from_bytes_per(now - std::min(before, now), time);
}

std::string peer_lines(const PeerPicture& peer) {
  const std::string name = peer.name.empty() ? peer.address : peer.name + " " + peer.address;
  const Sample sample{peer.stats, peer.age};
  const bool silent = peer.stats.silence.count() > 0;
  const std::string limit = peer.limited_by.text.empty() ? "" : "    " + peer.limited_by.text + '\n';
  return fmt::format("  {}\n    {}, {}, {}\n{}", name, core::format_count(peer.stats.streams_open, "stream"),
                     silent ? silence_text(peer.stats) : core::format_rate(peer.rate), figures_text(sample), limit);
}

/// One peer may have several sessions. By its name, or else by its host; of those left out neither is known.
std::string peers_text(const ProcessPicture& picture) {
  const std::size_t sessions = picture.peers.size() + picture.peers_left_out;
  std::set<std::string> who;
  for (const PeerPicture& peer : picture.peers)
    who.insert(peer.name.empty() ? peer.address.substr(0, peer.address.rfind(':')) : peer.name);
  if (who.size() == sessions) return core::format_count(sessions, "peer");
  const std::string text = core::format_count(sessions, "session");
  return picture.peers_left_out > 0 ? text : fmt::format("{} of {}", text, core::format_count(who.size(), "peer"));
}

std::string refused_text(const std::vector<RefusalPicture>& refused) {
  std::string text;
  for (const RefusalPicture& kind : refused)
    text += fmt::format("  refused {}: {}, the last {} ago{}{}\n", kind.count, kind.reason, clock_text(kind.ago),
                        kind.last.empty() ? "" : ": ", kind.last);
  return text;
}

std::string dialling_text(const DiallingPicture& dialling) {
  return fmt::format("  dialling {} for {}{}{}\n", dialling.peer, clock_text(dialling.age),
                     dialling.reason.empty() ? "" : ": ", dialling.reason);
}

}  // namespace

PeerPicture picture_of(std::uint64_t number, const Endpoint& address, const ConnectionStats& stats) {
  return {.number = number,
          .name = {},
          .address = address.to_string(),
          .age = std::chrono::steady_clock::now() - stats.made_at,
          .stats = stats,
          .rate = {},
          .limited_by = {}};
}

void Rates::set(ProcessPicture& picture, TimePoint now) {
  const bool first = at_ == TimePoint{};
  std::map<std::uint64_t, Before> peers;
  for (PeerPicture& peer : picture.peers) {
    const std::uint64_t moved = payload_bytes(peer.stats);
    const Evidence& evidence = peer.stats.evidence;
    const auto before = peers_.find(peer.number);
    const bool is_new = before == peers_.end();
    const std::uint64_t moved_before = is_new ? 0 : before->second.bytes;
    peer.rate = rate_of(moved_before, moved, is_new ? peer.age : now - at_);
    peer.limited_by = why_since(is_new ? Evidence{} : before->second.evidence, evidence);
    // Of an idle peer the evidence would name whatever stands still; a consumer is waited for though nothing moves.
    if (moved == moved_before && !peer.limited_by.word.ends_with("consumer")) peer.limited_by = {};
    peers.emplace(peer.number, Before{moved, evidence});
  }
  const std::uint64_t all = payload_bytes(picture.all);
  picture.rate = first ? rate_of(0, all, picture.age) : rate_of(all_bytes_, all, now - at_);
  peers_ = std::move(peers);
  all_bytes_ = all;
  at_ = now;
}

std::string to_text(const ProcessPicture& picture) {
  std::string text = fmt::format("{} (pid {}, for {})\n", picture.what, picture.pid, clock_text(picture.age));
  for (const std::string& place : picture.listening) text += "  listening on " + place + '\n';
  for (const std::string& place : picture.forwarding) text += "  forwarding " + place + '\n';
  text +=
      fmt::format("  {}, {}, {}\n", peers_text(picture), core::format_rate(picture.rate), payload_text(picture.all));
  if (picture.clients_waiting > 0)
    text += fmt::format("  {} waiting for a session\n", core::format_count(picture.clients_waiting, "client"));
  if (picture.dialling) text += dialling_text(*picture.dialling);
  text += refused_text(picture.refused);
  for (const PeerPicture& peer : picture.peers) text += peer_lines(peer);
  if (picture.peers_left_out > 0) text += fmt::format("  and {} slower ones\n", picture.peers_left_out);
  return text;
}

std::string to_sentence(const ProcessPicture& picture) {
  return fmt::format("{}, {}", peers_text(picture), core::format_rate(picture.rate));
}

}  // namespace udtcat::tool
