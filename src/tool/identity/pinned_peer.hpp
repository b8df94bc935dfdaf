// SPDX-License-Identifier: Apache-2.0
/// The key that a connector's listener has to have: of a line of a peers file, or trusted on first use.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <udtcat/credentials.hpp>
#include <udtcat/result.hpp>

namespace udtcat::tool {

/// Without a line it trusts the first key that it meets and, once that listener has taken ours, writes the line.
///
///   unknown ── a session stands, and its line is written ──► known, by the key met
///
/// Threads: confined to the main thread.
class PinnedPeer final : public KnownPeers {
 public:
  /// A listener of which the peers file has a line.  where   the file and the line, for messages
  PinnedPeer(PeerIdentity known, std::string where)
      : name_(std::move(known.name)), key_(known.key), where_(std::move(where)) {}
  /// One that is trusted at first sight.  file   gets the line
  PinnedPeer(std::string name, std::filesystem::path file) : name_(std::move(name)), file_(std::move(file)) {}

  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view application) const override;
  [[nodiscard]] Status on_session(const PeerIdentity& peer) override;

 private:
  const std::string name_;
  std::optional<PublicKey> key_;      // none: unknown
  std::string where_;                 // of one that is known
  const std::filesystem::path file_;  // of one that was not known
};

}  // namespace udtcat::tool
