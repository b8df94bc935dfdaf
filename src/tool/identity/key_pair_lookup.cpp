// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/key_pair_lookup.hpp"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/user_files.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {

namespace {

Error other_key(const PeerIdentity& known, const std::string& where, const PublicKey& met) {
  return {Errc::authentication_failed, "recognise " + known.name,
          fmt::format("it shows {}, but {} has {} for {}; if its key was changed, and you know that from elsewhere, "
                      "change that line",
                      met.to_string(), where, known.key.to_string(), known.name)};
}

/// The file with the keys of listeners; none: the user has no home.
std::optional<std::filesystem::path> listeners_file(const Options& options) {
  return options.peers_file ? std::optional<std::filesystem::path>(*options.peers_file) : user_file("peers");
}

/// The name of --peer; else HOST:PORT, since each port of a host may have a listener, and a key, of its own.
std::string meant_name(const Options& options) {
  const std::string& name = options.session.expected_peer;
  return name.empty() ? to_string(options.peer) : name;
}

/// The line of the listener: of its HOST:PORT, else of its host, for all ports; none: there is none. The default file
/// may be missing, one that an option names may not.
Result<std::optional<Peer>> find_listener(const Options& options) {
  const auto file = listeners_file(options);
  std::error_code unknown;
  const bool may_be_missing = !options.peers_file || options.trust_on_first_use;
  if (!file || (may_be_missing && !std::filesystem::exists(*file, unknown))) return std::nullopt;
  UDTCAT_TRY(const PeersList list, read_peers_list(file->string()));
  const Peer* found = list.find(meant_name(options));
  if (found == nullptr && options.session.expected_peer.empty()) found = list.find(options.peer.host);
  return found != nullptr ? std::optional(*found) : std::nullopt;
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
  if (known) {
    auto meant = std::make_shared<PinnedPeer>(PeerIdentity{known->name, known->key},
                                              fmt::format("{}:{}", file->string(), known->line));
    return towards(std::move(own), std::move(meant), known->key);
  }
  if (options.trust_on_first_use && file && is_end_name(name))
    return towards(std::move(own), std::make_shared<PinnedPeer>(name, *file), std::nullopt);
  std::error_code unknown;
  const std::string file_name = file ? file->string() : "a file for --peers";
  const bool has_lines = file && std::filesystem::exists(*file, unknown);
  return fail(Errc::bad_argument, fmt::format("connect to {}", name),
              fmt::format("{}: write {} PUBLIC-KEY into {}, or give the key by --peer PUBLIC-KEY; --trust-first trusts "
                          "whoever answers first",
                          has_lines ? fmt::format("{} has no line {}", file_name, name) : "its key is not known", name,
                          has_lines ? "it" : file_name));
}

}  // namespace

Result<std::string> PinnedPeer::recognise(const PublicKey& key, std::string_view) const {
  if (key_ && key != *key_) return tl::unexpected(other_key({name_, *key_}, where_, key));
  return name_;
}

Status PinnedPeer::on_session(const PeerIdentity& peer) {
  if (key_) return {};
  // Another process may have met it meanwhile.
  UDTCAT_CHECK(append_line(file_, [&]() -> Result<std::optional<std::string>> {
    UDTCAT_TRY(const PeersList list, read_peers_list(file_.string()));
    const Peer* written = list.find(name_);
    const Peer* const same = names_address(name_) ? nullptr : list.find(peer.key);
    if (written == nullptr && same != nullptr)
      return fail(Errc::bad_argument, "write down the key of " + name_,
                  fmt::format("{}:{} has it as that of {}: --peer {} means it", file_.string(), same->line, same->name,
                              same->name));
    if (written == nullptr) return fmt::format("{} {}", name_, peer.key.to_string());
    where_ = fmt::format("{}:{}", file_.string(), written->line);
    if (written->key != peer.key) return tl::unexpected(other_key({name_, written->key}, where_, peer.key));
    return std::nullopt;
  }));
  if (where_.empty()) where_ = file_.string();
  key_ = peer.key;
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
  return known.has_value();
}

std::string unlisted_peer(const Options& options) {
  const auto file = listeners_file(options);
  const std::string& name = options.session.expected_peer;
  std::error_code unknown;
  if (options.listens || name.empty() || !file || !std::filesystem::exists(*file, unknown)) return "";
  const auto known = find_listener(options);
  return known && !*known ? fmt::format("{} has no line {}", file->string(), name) : "";
}

Result<KeyPair> user_key_pair() {
  const auto file = user_file("identity");
  if (!file) return fail(Errc::bad_argument, "find your key pair", "there is no $HOME; -k FILE can name it");
  std::error_code unknown;
  if (!std::filesystem::exists(*file, unknown))
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
