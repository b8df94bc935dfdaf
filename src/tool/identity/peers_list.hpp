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

namespace udtcat::tool {

struct Peer {
  std::string name;
  PublicKey key;
  std::vector<std::string> purposes{};  ///< none: all
  std::vector<std::string> services{};  ///< by their names in --to; none: all
  std::size_t line = 0;
};

[[nodiscard]] bool may(const Peer& peer, std::string_view application);
/// The purposes as they are written in the list; "everything".
[[nodiscard]] std::string purposes_text(const Peer& peer);

/// "HOST:PORT": the name of a listener's line that --trust-first writes. The line says whose key is met there, and lets
/// nobody in: several may have one key, which may have a line of its own besides.
[[nodiscard]] bool names_address(std::string_view name);

/// Threads: immutable.
class PeersList {
 public:
  /// file   for messages
  /// errors: Errc::bad_argument: "FILE:LINE: …" and the cure
  [[nodiscard]] static Result<PeersList> parse(std::string_view text, const std::string& file);

  /// Null where there is none. Valid as long as the list.
  [[nodiscard]] const Peer* find(const PublicKey& key) const;  ///< not of a known host
  [[nodiscard]] const Peer* find(std::string_view name) const;
  [[nodiscard]] const Peer* known_host_of(const PublicKey& key) const;
  [[nodiscard]] const std::map<PublicKey, Peer>& all() const { return by_key_; }
  [[nodiscard]] std::size_t size() const { return by_key_.size(); }

 private:
  [[nodiscard]] Status add(Peer peer);

  std::map<PublicKey, Peer> by_key_;
  std::map<std::string, PublicKey, std::less<>> by_name_;
  std::map<std::string, Peer, std::less<>> known_hosts_;
};

}  // namespace udtcat::tool
