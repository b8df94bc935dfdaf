// SPDX-License-Identifier: Apache-2.0
/// Peers by name and public key, and what each may do: the text of a peers file. See udtcat-keygen(1), PEERS FILE.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/result.hpp>

#include "tool/identity/peer_line.hpp"

namespace udtcat::tool {

/// "HOST:PORT": the name of a listener's line that --trust-first writes. The line says whose key is met there, and lets
/// nobody in: several may have one key, which may have a line of its own besides.
[[nodiscard]] bool names_address(std::string_view name);

/// A peer has a line for each of its keys; all say the same of it.
/// Threads: immutable.
class PeersList {
 public:
  /// file   for messages
  /// errors: Errc::bad_argument: "FILE:LINE: …" and the cure
  [[nodiscard]] static Result<PeersList> parse(std::string_view text, const std::string& file);

  /// Null where there is none. Valid as long as the list.
  [[nodiscard]] const Peer* find(const PublicKey& key) const;  ///< not of a known host
  /// Its first line.
  [[nodiscard]] const Peer* find(std::string_view name) const;
  /// All of its lines, in their order, also of a known host.
  [[nodiscard]] std::vector<Peer> lines_of(std::string_view name) const;
  [[nodiscard]] const Peer* known_host_of(const PublicKey& key) const;
  [[nodiscard]] const std::map<PublicKey, Peer>& all() const { return by_key_; }
  /// Peers, by their names.
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

 private:
  [[nodiscard]] Status add(Peer peer);
  [[nodiscard]] Status check_apart(const Peer& peer) const;
  [[nodiscard]] static Status check_beside(const Peer& peer, const Peer& other);

  std::map<PublicKey, Peer> by_key_;
  std::map<std::string, std::vector<PublicKey>, std::less<>> by_name_;  // in the order of their lines
  std::map<std::string, PublicKey> by_directory_;                       // each peer's first key; in small letters
  std::map<std::string, std::vector<Peer>, std::less<>> known_hosts_;   // likewise
};

}  // namespace udtcat::tool
