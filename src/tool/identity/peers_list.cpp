// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peers_list.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <udtcat/endpoint.hpp>

#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/applications.hpp"

namespace udtcat::tool {

namespace {

constexpr std::string_view kServices = "to=";
// The XIO driver has shared keys only; data connections of GridFTP belong to gridftp. No listener of ours is for rsh,
// but lists that were written for one name it.
constexpr std::array<std::string_view, 8> kPurposes{kPipe, kForward, kRsh, kGridftp, kGateway, kBench, kTrees, kMeet};

using LineWords = std::vector<std::string_view>;

LineWords words_of(std::string_view line, std::string_view separators) {
  LineWords words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    if (line.empty() || line.starts_with('#')) return words;
    words.push_back(line.substr(0, line.find_first_of(separators)));
    line.remove_prefix(words.back().size());
  }
}

std::string shown(std::string_view word) { return "\"" + core::printable(word, core::kShownBytes) + "\""; }

std::string all_purposes() { return fmt::format("{}", fmt::join(kPurposes, ", ")); }

Result<std::vector<std::string>> purposes_of(std::string_view word) {
  std::vector<std::string> purposes;
  for (const std::string_view name : words_of(word, ",")) {
    if (std::ranges::find(kPurposes, name) == kPurposes.end())
      return fail(Errc::bad_argument, "",
                  shown(name) + " is no purpose; what a key may be for: " + all_purposes() +
                      ", with commas and without blanks; to=NAME,... may follow");
    if (std::ranges::find(purposes, name) != purposes.end())
      return fail(Errc::bad_argument, "", shown(name) + " stands there twice");
    purposes.emplace_back(name);
  }
  if (purposes.empty())
    return fail(Errc::bad_argument, "", "no purpose between the commas; what a key may be for: " + all_purposes());
  return purposes;
}

Result<std::vector<std::string>> services_of(std::string_view word) {
  std::vector<std::string> services;
  for (const std::string_view name : words_of(word.substr(kServices.size()), ",")) services.emplace_back(name);
  if (services.empty()) return fail(Errc::bad_argument, "", "to= needs the names of services, as in to=db,web");
  return services;
}

/// The comment of a key's file, as somebody@somewhere; empty: none stands there.
std::string_view take_comment(std::span<const std::string_view>& words) {
  if (words.empty() || words.front().starts_with(kServices) || words.front().find('@') == std::string_view::npos)
    return {};
  const std::string_view comment = words.front();
  words = words.subspan(1);
  return comment;
}

/// The key takes one word, or two.
Result<PublicKey> take_key(std::span<const std::string_view>& words) {
  const bool pasted = words.front() == PublicKey::kPrefix && words.size() > 1;
  UDTCAT_TRY(const PublicKey key,
             PublicKey::parse(pasted ? fmt::format("{} {}", words[0], words[1]) : std::string(words.front())));
  words = words.subspan(pasted ? 2 : 1);
  return key;
}

/// NAME and key; or the line of keygen alone, whose comment is then the name, as people do it with authorized_keys.
Result<Peer> named_key(std::span<const std::string_view>& words) {
  std::string_view name = words.front();
  const bool has_name = name != PublicKey::kPrefix && !PublicKey::parse(name);
  if (has_name && !is_end_name(name))
    return fail(Errc::bad_argument, "",
                fmt::format("a name has 1 to {} printable characters of ASCII", kMaxEndNameBytes));
  if (has_name && words.size() < 2)
    return fail(Errc::bad_argument, "",
                "wanted: NAME PUBLIC-KEY [PURPOSE,...] [to=NAME,...]; the purposes: " + all_purposes());
  if (has_name) words = words.subspan(1);
  UDTCAT_TRY(const PublicKey key, take_key(words));
  const std::string_view comment = take_comment(words);
  if (!has_name) name = comment;
  if (!is_end_name(name))
    return fail(Errc::bad_argument, "",
                fmt::format("the NAME of the peer is missing in front of its key: NAME {}", key.to_string()));
  return Peer{.name = std::string(name), .key = key};
}

Result<Peer> peer_of(std::span<const std::string_view> words) {
  UDTCAT_TRY(Peer peer, named_key(words));
  if (!words.empty() && !words.front().starts_with(kServices)) {
    UDTCAT_TRY(peer.purposes, purposes_of(words.front()));
    words = words.subspan(1);
  }
  if (!words.empty() && words.front().starts_with(kServices)) {
    UDTCAT_TRY(peer.services, services_of(words.front()));
    words = words.subspan(1);
  }
  if (!words.empty()) return fail(Errc::bad_argument, "", shown(words.front()) + " is a word too many");
  return peer;
}

}  // namespace

bool names_address(std::string_view name) {
  const auto address = parse_peer(name);
  return address && address->port != 0;
}

bool may(const Peer& peer, std::string_view application) {
  if (application == kDriver) application = kGridftp;
  return peer.purposes.empty() || std::ranges::find(peer.purposes, application) != peer.purposes.end();
}

std::string purposes_text(const Peer& peer) {
  if (peer.purposes.empty()) return "everything";
  return fmt::format("{}", fmt::join(peer.purposes, ","));
}

Result<PeersList> PeersList::parse(std::string_view text, const std::string& file) {
  PeersList list;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const LineWords words = words_of(line, " \t\r");
    if (words.empty()) continue;
    const auto wrong = [&](const Error& why) {
      return fail(Errc::bad_argument, fmt::format("{}:{}", file, number), why.cause);
    };
    auto peer = peer_of(words);
    if (!peer) return wrong(peer.error());
    peer->line = number;
    if (auto added = list.add(std::move(*peer)); !added) return wrong(added.error());
  }
  return list;
}

Status PeersList::add(Peer peer) {
  const Peer* const other = find(peer.name);
  if (other != nullptr && other->key == peer.key)
    return fail(Errc::bad_argument, "", fmt::format("it says what line {} says: take one of the two out", other->line));
  if (other != nullptr)
    return fail(
        Errc::bad_argument, "",
        fmt::format("{} is the name of line {} already: {}take one of the two out", shown(peer.name), other->line,
                    names_address(peer.name) ? ""
                                             : "write another name of your own in front of this key, NAME " +
                                                   peer.key.to_string() + ", or "));
  if (names_address(peer.name)) {
    const std::string name = peer.name;
    known_hosts_.emplace(name, std::move(peer));
    return {};
  }
  if (const Peer* same = find(peer.key))
    return fail(Errc::bad_argument, "",
                fmt::format("this key is that of {} in line {} already: one key is one peer, take one of the two out",
                            same->name, same->line));
  by_name_.emplace(peer.name, peer.key);
  by_key_.emplace(peer.key, std::move(peer));
  return {};
}

const Peer* PeersList::find(const PublicKey& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second;
}

const Peer* PeersList::known_host_of(const PublicKey& key) const {
  const auto found = std::ranges::find_if(known_hosts_, [&](const auto& each) { return each.second.key == key; });
  return found == known_hosts_.end() ? nullptr : &found->second;
}

const Peer* PeersList::find(std::string_view name) const {
  if (const auto known_host = known_hosts_.find(name); known_host != known_hosts_.end()) return &known_host->second;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : find(found->second);
}

}  // namespace udtcat::tool
