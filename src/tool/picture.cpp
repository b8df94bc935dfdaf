// SPDX-License-Identifier: Apache-2.0
#include "tool/picture.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lib/core/user_text.hpp"
#include "tool/figures.hpp"

namespace udtcat::tool {

namespace {

BitRate rate_of(std::uint64_t before, std::uint64_t now, std::chrono::nanoseconds time) {
  // A peer's number is its own, and yet its figures may begin anew.
  return BitRate::from_bytes_per(now - std::min(before, now), time);
}

std::string count_text(std::size_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string peer_lines(const PeerPicture& peer) {
  const std::string name = peer.name.empty() ? peer.address : peer.name + " " + peer.address;
  const Sample sample{peer.stats, peer.age};
  return fmt::format("  {}\n    {}, {}, {}\n", name, count_text(peer.stats.streams_open, "stream", "streams"),
                     core::format_rate(peer.rate), figures_text(sample));
}

std::string peers_text(const ProcessPicture& picture) {
  return count_text(picture.peers.size() + picture.peers_left_out, "peer", "peers");
}

std::string refused_text(const std::vector<RefusalPicture>& refused) {
  std::string text;
  for (const RefusalPicture& kind : refused)
    text += fmt::format("  refused {}: {}, the last {} ago\n", kind.count, kind.reason, clock_text(kind.ago));
  return text;
}

}  // namespace

PeerPicture picture_of(std::uint64_t number, const Endpoint& address, const ConnectionStats& stats) {
  return {.number = number,
          .name = {},
          .address = address.to_string(),
          .age = std::chrono::steady_clock::now() - stats.made_at,
          .stats = stats,
          .rate = {}};
}

void Rates::set(ProcessPicture& picture, TimePoint now) {
  const bool first = at_ == TimePoint{};
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (PeerPicture& peer : picture.peers) {
    const std::uint64_t moved = payload_bytes(peer.stats);
    const auto before = bytes_.find(peer.number);
    peer.rate = before == bytes_.end() ? rate_of(0, moved, peer.age) : rate_of(before->second, moved, now - at_);
    bytes.emplace(peer.number, moved);
  }
  const std::uint64_t all = payload_bytes(picture.all);
  picture.rate = first ? rate_of(0, all, picture.age) : rate_of(all_bytes_, all, now - at_);
  bytes_ = std::move(bytes);
  all_bytes_ = all;
  at_ = now;
}

std::string to_text(const ProcessPicture& picture) {
  std::string text = fmt::format("{} (pid {}, for {})\n", picture.what, picture.pid, clock_text(picture.age));
  for (const std::string& place : picture.listening) text += "  listening on " + place + '\n';
  for (const std::string& place : picture.forwarding) text += "  forwarding " + place + '\n';
  text +=
      fmt::format("  {}, {}, {}\n", peers_text(picture), core::format_rate(picture.rate), payload_text(picture.all));
  text += refused_text(picture.refused);
  for (const PeerPicture& peer : picture.peers) text += peer_lines(peer);
  if (picture.peers_left_out > 0) text += fmt::format("  and {} slower ones\n", picture.peers_left_out);
  return text;
}

std::string to_sentence(const ProcessPicture& picture) {
  return fmt::format("{}, {}", peers_text(picture), core::format_rate(picture.rate));
}

}  // namespace udtcat::tool
