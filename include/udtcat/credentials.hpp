// SPDX-License-Identifier: Apache-2.0
/// The means by which the two ends of a session prove themselves: a key that both have, or a key pair of each.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <udtcat/key.hpp>
#include <udtcat/key_pair.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat {

namespace core {
struct PeerRates;
}

/// A peer that has proved its key pair.
struct PeerIdentity {
  std::string name;  ///< as KnownPeers calls it
  PublicKey key;
};

/// Holders of key pairs that an end wants to meet, and the sessions that it has with them.
/// Threads: confined to the io_context thread of its sessions.
class KnownPeers {
 public:
  /// errors (as its argument): the reason why a peer that was recognised no longer is, which both ends log: it names
  /// the peer
  using RejectedHandler = std::function<void(const Error& why)>;
  class Watch;

  KnownPeers() = default;
  KnownPeers(const KnownPeers&) = delete;
  KnownPeers& operator=(const KnownPeers&) = delete;
  virtual ~KnownPeers() = default;

  /// The name of the peer that holds `key`. At once: no disk is read here.
  /// errors: Errc::authentication_failed: it is nobody's; Errc::parameters_refused: it is not there for that
  /// application
  [[nodiscard]] virtual Result<std::string> recognise(const PublicKey& key, std::string_view application) const = 0;

  /// A session with a peer that was recognised begins: each end has proved its key and taken the other's.
  /// errors (which end the session): those of the implementation
  [[nodiscard]] virtual Status on_session(const PeerIdentity& /*peer*/) { return {}; }

  /// Limits that all streams of the peer's sessions have together; null: none. Asked of each stream that begins.
  [[nodiscard]] virtual std::shared_ptr<core::PeerRates> rates_of(const PeerIdentity& /*peer*/) { return nullptr; }

  /// Asks again about the peer of each session under way: one that recognise() refuses now is broken off.
  void recheck() const;

 private:
  struct Watched {
    PublicKey key;
    std::string application;
    RejectedHandler on_rejected;
  };
  std::list<Watched> watched_;
};

/// A session's place among those that recheck() looks at; while it lives.
/// Threads: confined, as KnownPeers.
class KnownPeers::Watch {
 public:
  /// on_rejected   called from inside recheck(), in which no watch ends
  Watch(std::shared_ptr<KnownPeers> peers, const PublicKey& key, std::string application, RejectedHandler on_rejected);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  [[nodiscard]] KnownPeers& peers() const { return *peers_; }

 private:
  const std::shared_ptr<KnownPeers> peers_;
  const std::list<Watched>::iterator place_;
};

/// The one peer that a connector means.
[[nodiscard]] std::shared_ptr<KnownPeers> one_known_peer(PeerIdentity peer);

/// One end's key pair, and the other ends that it takes.
struct PairCredentials {
  std::shared_ptr<const KeyPair> own;
  std::shared_ptr<KnownPeers> peers;
  /// A connector's: the listener's key, from which its key proof is made; none: it does not know it yet.
  std::optional<PublicKey> listener{};
};

/// A shared key or a key pair, and made of either. Both ends have the same kind.
/// Threads: unsynchronised.
class Credentials {
 public:
  Credentials(Key shared) : either_(std::move(shared)) {}  // NOLINT(google-explicit-constructor): made of either
  Credentials(PairCredentials pair) : either_(std::move(pair)) {}  // NOLINT(google-explicit-constructor): likewise

  /// A copy for a second owner, spelt out so that it is never an accident.
  [[nodiscard]] Credentials duplicate() const;
  /// None: it is a key pair.
  [[nodiscard]] const Key* shared() const { return std::get_if<Key>(&either_); }
  /// None: it is a shared key.
  [[nodiscard]] const PairCredentials* pair() const { return std::get_if<PairCredentials>(&either_); }

 private:
  std::variant<Key, PairCredentials> either_;
};

/// OpenSSL's configuration (OPENSSL_CONF, openssl.cnf) is not read in this process: it may take away algorithms that
/// the protocol needs. For programs; libraries leave the choice to their users.
/// Call first thing in main; of no effect once OpenSSL was used.
void ignore_crypto_configuration();

}  // namespace udtcat
