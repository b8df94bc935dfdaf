// SPDX-License-Identifier: Apache-2.0
/// The peers that a listener lets in: a file, read at the start and whenever its user asks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/result.hpp>

#include "tool/identity/peers_list.hpp"

namespace udtcat::tool {

/// The beginning of an error about a key that no line lists.
inline constexpr std::string_view kAdmitKey = "admit the key ";

/// The list in force. reload() replaces it: keep no pointers into it.
/// Threads: confined to the main thread.
class PeersFile final : public KnownPeers {
 public:
  /// errors: Errc::bad_argument for a file that cannot be read, that others can write to, or with a wrong line
  [[nodiscard]] static Result<std::shared_ptr<PeersFile>> load(std::string path);

  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view application) const override;
  [[nodiscard]] const PeersList& list() const { return list_; }
  /// The services that its lines name by to= and that are none of `services`: "FILE:LINE: …" each.
  [[nodiscard]] std::vector<std::string> unknown_services(const std::vector<std::string>& services) const;
  /// Reads the file again, and ends the sessions that it no longer allows. A file that cannot be used changes nothing.
  /// returns  what was read, in a sentence.  errors: as load()
  [[nodiscard]] Result<std::string> reload();

 private:
  [[nodiscard]] Error unknown_key(const PublicKey& key) const;
  PeersFile(std::string path, PeersList list) : path_(std::move(path)), list_(std::move(list)) {}

  const std::string path_;
  PeersList list_;
  PeersList before_;  // while the sessions of its peers are gone through
};

/// The list in a file.  errors: as PeersFile::load()
[[nodiscard]] Result<PeersList> read_peers_list(const std::string& path);

}  // namespace udtcat::tool
