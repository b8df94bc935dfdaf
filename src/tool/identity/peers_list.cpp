// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peers_list.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include <udtcat/endpoint.hpp>

#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"

namespace udtcat::tool {

namespace {

/// README and readme are one on many a file system. Of ASCII alone.
std::string without_case(std::string directory) {
  std::ranges::transform(directory, directory.begin(),
                         [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  return directory;
}

}  // namespace

bool names_address(std::string_view name) {
  const auto address = parse_peer(name);
  return address && address->port != 0;
}

Result<PeersList> PeersList::parse(std::string_view text, const std::string& file) {
  PeersList list;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const auto words = words_of(line, " \t\r");
    if (words.empty()) continue;
    const auto wrong = [&](const Error& why) {
      return fail(Errc::bad_argument, fmt::format("{}:{}", file, number), why.cause);
    };
    auto peer = parse_peer_line(words);
    if (!peer) return wrong(peer.error());
    peer->line = number;
    if (auto added = list.add(std::move(*peer)); !added) return wrong(added.error());
  }
  return list;
}

/// Whether a line may have the name of another one.
Status PeersList::check_beside(const Peer& peer, const Peer& other) {
  const std::string name = "\"" + core::printable(peer.name, core::kShownBytes) + "\"";
  // Two accounts of one host may have the same comment.
  if (!peer.is_named || !other.is_named)
    return fail(Errc::bad_argument, "",
                fmt::format("{} is the name of line {} already: write another name of your own in front of this key, "
                            "NAME {}, or, where it is a second key of that peer, its name in front of both, or take "
                            "one of the two out",
                            name, other.line, peer.key.to_string()));
  if (is_alike(peer, other)) return {};
  return fail(Errc::bad_argument, "",
              fmt::format("{} is the name of line {} already, which says something else of it: two keys of one peer "
                          "have the same words, valid-after= and valid-before= apart; another peer has another name",
                          name, other.line));
}

/// Whether the peer's directory neither is another's, nor in one, nor has one in it, whether or not case counts there.
Status PeersList::check_apart(const Peer& peer) const {
  const std::string own = without_case(peer.directory);
  auto other = by_directory_.lower_bound(own + '/');
  if (other != by_directory_.end() && !other->first.starts_with(own + '/')) other = by_directory_.end();
  for (std::size_t end = 0; other == by_directory_.end() && end < own.size(); ++end) {
    end = std::min(own.find('/', end), own.size());
    other = by_directory_.find(own.substr(0, end));
  }
  if (own.empty() || other == by_directory_.end()) return {};
  const Peer& has = by_key_.at(other->second);
  if (has.name == peer.name) return {};
  return fail(Errc::bad_argument, "",
              fmt::format("into={} and into={} of {} in line {}: where one is in the other, who has that could replace "
                          "all of it; peers have directories beside each other, and those who are to share one are "
                          "keys of one peer, with one name",
                          peer.directory, has.directory, has.name, has.line));
}

Status PeersList::add(Peer peer) {
  for (const Peer& other : lines_of(peer.name)) {
    if (other.key == peer.key)
      return fail(Errc::bad_argument, "",
                  fmt::format("it says what line {} says: take one of the two out", other.line));
    UDTCAT_CHECK(check_beside(peer, other));
  }
  if (names_address(peer.name)) {
    known_hosts_[peer.name].push_back(std::move(peer));
    return {};
  }
  if (const Peer* same = find(peer.key))
    return fail(Errc::bad_argument, "",
                fmt::format("this key is that of {} in line {} already: one key is one peer, take one of the two out",
                            same->name, same->line));
  UDTCAT_CHECK(check_apart(peer));
  if (!peer.directory.empty()) by_directory_.emplace(without_case(peer.directory), peer.key);
  by_name_[peer.name].push_back(peer.key);
  by_key_.emplace(peer.key, std::move(peer));
  return {};
}

const Peer* PeersList::find(const PublicKey& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second;
}

const Peer* PeersList::known_host_of(const PublicKey& key) const {
  for (const auto& [name, lines] : known_hosts_)
    if (const auto found = std::ranges::find(lines, key, &Peer::key); found != lines.end()) return &*found;
  return nullptr;
}

const Peer* PeersList::find(std::string_view name) const {
  if (const auto known_host = known_hosts_.find(name); known_host != known_hosts_.end())
    return &known_host->second.front();
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : find(found->second.front());
}

std::vector<Peer> PeersList::lines_of(std::string_view name) const {
  if (const auto known_host = known_hosts_.find(name); known_host != known_hosts_.end()) return known_host->second;
  std::vector<Peer> lines;
  if (const auto found = by_name_.find(name); found != by_name_.end())
    for (const PublicKey& key : found->second) lines.push_back(by_key_.at(key));
  return lines;
}

}  // namespace udtcat::tool
