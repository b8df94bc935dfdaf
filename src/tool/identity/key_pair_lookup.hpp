// SPDX-License-Identifier: Apache-2.0
/// Whether the options ask for a key pair, which one, and for which peers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/key_pair.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/options.hpp"
#include "tool/identity/credential_lookup.hpp"

namespace udtcat::tool {

/// An option that was written and needs a key pair; null: there is none.
[[nodiscard]] const char* pair_option(const Options& options);

/// Whether an option asks for a key pair, or the peers file has a line of the listener that a connector dials.
/// errors: Errc::bad_argument for a peers file that cannot be used
[[nodiscard]] Result<bool> asks_for_pair(const Options& options);

/// "FILE has no line NAME", where a connector's --peer is a name that the peers file lacks; else empty.
[[nodiscard]] std::string unlisted_peer(const Options& options);

/// The user's own key pair, in his configuration directory.
/// errors: Errc::bad_argument, saying how to make one; those of KeyPair::from_file()
[[nodiscard]] Result<KeyPair> user_key_pair();

/// The pair with the peers that the options name.
/// errors: Errc::bad_argument: a listener without a peers file, a connector without its listener's key
[[nodiscard]] Result<FoundCredentials> with_peers(const Options& options, KeyPair own);

/// The keys of which a connector's listener has to have one: of its lines in a peers file, or trusted on first use.
/// Without a line it trusts the first key that it meets and, once that listener has taken ours, writes the line.
///
///   unknown ── a session stands, and its line is written ──► known, by the key met
///
/// Threads: confined to the main thread.
class PinnedPeer final : public KnownPeers {
 public:
  /// A listener of which the peers file has lines, of its keys.
  PinnedPeer(std::vector<Peer> lines, std::filesystem::path file)
      : name_(lines.front().name), lines_(std::move(lines)), file_(std::move(file)) {}
  /// One that is trusted at first sight.  file   gets the line
  PinnedPeer(std::string name, std::filesystem::path file) : name_(std::move(name)), file_(std::move(file)) {}

  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view application) const override;
  [[nodiscard]] Status on_session(const PeerIdentity& peer) override;

 private:
  [[nodiscard]] Error other_key(const PublicKey& met) const;

  const std::string name_;
  std::vector<Peer> lines_;  // none: unknown
  const std::filesystem::path file_;
};

}  // namespace udtcat::tool
