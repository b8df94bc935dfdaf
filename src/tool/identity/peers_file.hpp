// SPDX-License-Identifier: Apache-2.0
/// The peers that a listener lets in: a file, read at the start and whenever its user asks.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/result.hpp>

#include "lib/core/shared_rate.hpp"
#include "tool/identity/peers_list.hpp"

namespace udtcat::tool {

/// The beginning of an error about a key that no line lists, or, with Errc::parameters_refused, that does not count at
/// this time.
inline constexpr std::string_view kAdmitKey = "admit the key ";

/// The part of a peer: a place below its own directory, and how much may be in it.
struct PeerPlace {
  std::string name{};                          ///< of the peer
  std::string directory{};                     ///< empty: the listener's own
  std::optional<std::uint64_t> limit_bytes{};  ///< none: what the disk has
};

/// The list in force. reload() replaces it: keep no pointers into it.
/// Threads: confined to the main thread.
class PeersFile final : public KnownPeers {
 public:
  /// May jump: it is the one that people set.
  using Clock = std::function<SystemTime()>;
  /// Dates are looked at as often at least, since the clock may be set meanwhile.
  static constexpr std::chrono::seconds kLookAtClock{30};  // spec: udtcat-keygen(1), PEERS FILE: within a minute

  /// errors: Errc::bad_argument for a file that cannot be read, that others can write to, or with a wrong line
  [[nodiscard]] static Result<std::shared_ptr<PeersFile>> load(std::string path,
                                                               Clock clock = std::chrono::system_clock::now);

  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view application) const override;
  /// Logs the line of a peer that has several.
  [[nodiscard]] Status on_session(const PeerIdentity& peer) override;
  [[nodiscard]] std::shared_ptr<core::PeerRates> rates_of(const PeerIdentity& peer) override;
  [[nodiscard]] const PeersList& list() const { return list_; }
  /// Of a peer with a session; none: it was taken off meanwhile, and has the listener's none either.
  [[nodiscard]] std::optional<PeerPlace> place_of(const PublicKey& key) const;
  /// The services that its lines name by to= and that are none of `services`: "FILE:LINE: …" each.
  [[nodiscard]] std::vector<std::string> unknown_services(const std::vector<std::string>& services) const;
  /// Reads the file again, and ends the sessions that it no longer allows. A file that cannot be used changes nothing.
  /// returns  what was read, in a sentence.  errors: as load()
  [[nodiscard]] Result<std::string> reload();
  /// Ends the sessions of keys that have ceased to count, and logs which keys have begun to count or ceased to.
  /// returns  when to call it again; none: no line has a date
  [[nodiscard]] std::optional<std::chrono::milliseconds> look_at_dates();

 private:
  [[nodiscard]] Error unknown_key(const PublicKey& key) const;
  [[nodiscard]] std::string place_in_file(const Peer& peer) const;
  void note_validity();
  PeersFile(std::string path, PeersList list, Clock clock);

  const std::string path_;
  const Clock clock_;
  PeersList list_;
  PeersList before_;                    // while the sessions of its peers are gone through
  std::map<PublicKey, bool> validity_;  // of lines with dates, at the last look at the clock
  std::map<std::string, std::shared_ptr<core::PeerRates>, std::less<>> rates_;  // by names of the list
};

/// The list in a file.  errors: as PeersFile::load()
[[nodiscard]] Result<PeersList> read_peers_list(const std::string& path);

}  // namespace udtcat::tool
