// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/key_pair_lookup.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/user_files.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {

namespace {

/// The file with the keys of listeners; none: the user has no home.
std::optional<std::filesystem::path> listeners_file(const Options& options) {
  return options.peers_file ? std::optional<std::filesystem::path>(*options.peers_file) : user_file("peers");
}

/// The name of --peer; else HOST:PORT, since each port of a host may have a listener, and a key, of its own.
std::string meant_name(const Options& options) {
  const std::string& name = options.session.expected_peer;
  return name.empty() ? to_string(options.peer) : name;
}

/// The lines of the listener: of its HOST:PORT, else of its host, for all ports; empty: there is none. The default file
/// may be missing, one that an option names may not.
Result<std::vector<Peer>> find_listener(const Options& options) {
  const auto file = listeners_file(options);
  const bool may_be_missing = !options.peers_file || options.trust_on_first_use;
  if (!file || (may_be_missing && is_missing(*file))) return std::vector<Peer>();
  UDTCAT_TRY(const PeersList list, read_peers_list(file->string()));
  std::vector<Peer> found = list.lines_of(meant_name(options));
  if (found.empty() && options.session.expected_peer.empty()) found = list.lines_of(options.peer.host);
  return found;
}

Result<FoundCredentials> for_listener(const Options& options, std::shared_ptr<const KeyPair> own) {
  if (!options.peers_file)
    return fail(Errc::bad_argument, "a listener with a key pair",
                "needs --peers FILE, the list of those that it lets in");
  if (options.trust_on_first_use || options.peer_key || !options.session.expected_peer.empty())
    return misplaced(options.trust_on_first_use ? "--trust-first" : "--peer",
                     "a listener with a key pair lets in the peers that --peers FILE lists, and no others");
  UDTCAT_TRY(const auto peers, PeersFile::load(*options.peers_file));
  return FoundCredentials{.credentials = PairCredentials{std::move(own), peers}, .peers = peers};
}

/// listener   its key; none: not known yet
FoundCredentials towards(std::shared_ptr<const KeyPair> own, std::shared_ptr<KnownPeers> peers,
                         std::optional<PublicKey> listener) {
  return FoundCredentials{.credentials = PairCredentials{std::move(own), std::move(peers), listener}};
}

Result<FoundCredentials> for_connector(const Options& options, std::shared_ptr<const KeyPair> own) {
  const std::string name = meant_name(options);
  if (options.peer_key) return towards(std::move(own), one_known_peer({name, *options.peer_key}), options.peer_key);
  UDTCAT_TRY(const auto known, find_listener(options));
  const auto file = listeners_file(options);
  if (!known.empty()) {
    // Which of several keys the listener has is not known beforehand.
    const auto only = known.size() == 1 ? std::optional(known.front().key) : std::nullopt;
    return towards(std::move(own), std::make_shared<PinnedPeer>(known, *file), only);
  }
  if (options.trust_on_first_use && file && is_end_name(name))
    return towards(std::move(own), std::make_shared<PinnedPeer>(name, *file), std::nullopt);
  const std::string file_name = file ? file->string() : "a file for --peers";
  const bool has_lines = file && !is_missing(*file);
  return fail(Errc::bad_argument, fmt::format("connect to {}", name),
              fmt::format("{}: write {} PUBLIC-KEY into {}, or give the key by --peer PUBLIC-KEY; --trust-first trusts "
                          "whoever answers first",
                          has_lines ? fmt::format("{} has no line {}", file_name, name) : "its key is not known", name,
                          has_lines ? "it" : file_name));
}

}  // namespace

Error PinnedPeer::other_key(const PublicKey& met) const {
  std::vector<std::string> keys;
  std::vector<std::string> places;
  for (const Peer& line : lines_) {
    keys.push_back(line.key.to_string());
    const bool is_read = line.line > 0;  // else it was written just now
    places.push_back(is_read ? fmt::format("{}:{}", file_.string(), line.line) : file_.string());
  }
  return {Errc::authentication_failed, "recognise " + name_,
          fmt::format("it shows {}, but {} has {} for {}; if its key was changed, and you know that from elsewhere, "
                      "change that line",
                      met.to_string(), fmt::join(places, " and "), fmt::join(keys, " and "), name_)};
}

Result<std::string> PinnedPeer::recognise(const PublicKey& key, std::string_view) const {
  if (lines_.empty()) return name_;
  const auto line = std::ranges::find(lines_, key, &Peer::key);
  if (line == lines_.end()) return tl::unexpected(other_key(key));
  if (is_valid_at(*line, std::chrono::system_clock::now())) return name_;
  return fail(Errc::authentication_failed, "recognise " + name_,
              fmt::format("its key is that of {}:{}, and {}", file_.string(), line->line,
                          dates_text(*line, std::chrono::system_clock::now())));
}

Status PinnedPeer::on_session(const PeerIdentity& peer) {
  if (!lines_.empty()) return {};
  // Another process may have met it meanwhile.
  UDTCAT_CHECK(append_line(file_, [&]() -> Result<std::optional<std::string>> {
    UDTCAT_TRY(const PeersList list, read_peers_list(file_.string()));
    const std::vector<Peer> written = list.lines_of(name_);
    const Peer* const same = names_address(name_) ? nullptr : list.find(peer.key);
    if (written.empty() && same != nullptr)
      return fail(Errc::bad_argument, "write down the key of " + name_,
                  fmt::format("{}:{} has it as that of {}: --peer {} means it", file_.string(), same->line, same->name,
                              same->name));
    if (written.empty()) return fmt::format("{} {}", name_, peer.key.to_string());
    lines_ = written;
    UDTCAT_CHECK(recognise(peer.key, {}));
    return std::nullopt;
  }));
  if (!lines_.empty()) return {};
  lines_.push_back({.name = name_, .key = peer.key});
  core::log().warn("trusted at first sight, and written to {}: {} {}", file_.string(), name_, peer.key.to_string());
  return {};
}

const char* pair_option(const Options& options) {
  if (options.peers_file) return "--peers";
  if (options.trust_on_first_use) return "--trust-first";
  return options.peer_key ? "--peer PUBLIC-KEY" : nullptr;
}

Result<bool> asks_for_pair(const Options& options) {
  if (pair_option(options) != nullptr) return true;
  if (options.listens) return false;
  UDTCAT_TRY(const auto known, find_listener(options));
  return !known.empty();
}

std::string unlisted_peer(const Options& options) {
  const auto file = listeners_file(options);
  const std::string& name = options.session.expected_peer;
  if (options.listens || name.empty() || !file || is_missing(*file)) return "";
  const auto known = find_listener(options);
  return known && known->empty() ? fmt::format("{} has no line {}", file->string(), name) : "";
}

Result<KeyPair> user_key_pair() {
  const auto file = user_file("identity");
  if (!file) return fail(Errc::bad_argument, "find your key pair", "there is no $HOME; -k FILE can name it");
  if (is_missing(*file))
    return fail(Errc::bad_argument, "find your key pair in " + file->string(),
                "it is not there; udtcat keygen --pair makes one, -k FILE names another");
  return KeyPair::from_file(file->string());
}

Result<FoundCredentials> with_peers(const Options& options, KeyPair own) {
  if (!options.session.own_name.empty())
    return misplaced("--as", "allowed with a shared key only; with key pairs, each end's peers file names the other");
  auto shared = std::make_shared<const KeyPair>(std::move(own));
  return options.listens ? for_listener(options, std::move(shared)) : for_connector(options, std::move(shared));
}

}  // namespace udtcat::tool
