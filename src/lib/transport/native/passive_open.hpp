// SPDX-License-Identifier: Apache-2.0
/// The listening side of the handshake. See docs/spec/udt4.md §4.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/keyed_hash.hpp"
#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/key_proof.hpp"
#include "lib/transport/native/prefix_meter.hpp"
#include "lib/transport/native/time.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

/// Cookies, by which a client proves that it receives at its address, while the listener keeps nothing of it: keyed
/// hashes of the client and of the term, the present one or the one before.
/// Threads: unsynchronised; time is a parameter.
class CookieJar {
 public:
  using Key = std::span<const std::byte, crypto::KeyedHash::kKeyBytes>;
  /// key   none: one of its own.  errors   Errc::cipher_failed
  [[nodiscard]] static Result<CookieJar> create(Duration term, const std::optional<Key>& key = std::nullopt);

  /// Never 0, by which a client says that it has none.  errors   Errc::cipher_failed
  [[nodiscard]] Result<std::uint32_t> make(TimePoint now, const Endpoint& client, std::uint32_t client_id);
  [[nodiscard]] bool accepts(TimePoint now, const Endpoint& client, std::uint32_t client_id, std::uint32_t cookie);

 private:
  CookieJar(crypto::KeyedHash hash, Duration term) : hash_(std::move(hash)), term_(term) {}
  [[nodiscard]] Result<std::uint32_t> at(std::int64_t term, const Endpoint& client, std::uint32_t client_id);

  crypto::KeyedHash hash_;
  Duration term_;
};

/// Nothing is kept of a client until it has returned a cookie. With a key, clients that prove it are always answered,
/// and of the others a limited number a second.
/// Threads: unsynchronised; time is a parameter.
class PassiveOpen {
 public:
  struct Settings {
    std::uint32_t mss = 0;
    std::uint32_t flow_window = 0;
    std::optional<std::uint32_t> known_cookie;  ///< accepted from any address of a client that proves the key
  };
  /// Of a connection to be made: drawn by the port, which knows which numbers are free.
  struct Numbers {
    std::uint32_t local_id = 0;
    std::uint64_t token = 0;
  };

  /// key_proof   none: without a key; else outlives this
  /// known       the key of the cookies for a client's next connection; none: without a key
  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PassiveOpen> create(const Settings& settings, KeyProof* key_proof,
                                                  const std::optional<CookieJar::Key>& known = std::nullopt);

  /// The reaction to a handshake packet for destination 0.
  struct Outcome {
    std::vector<std::byte> reply;                 ///< to where it came from; empty: silence
    std::optional<ConnectionSettings> accepted;   ///< without TransportOptions and times; the reply tells the client
    bool proved = false;                          ///< the client that was accepted holds the key
    std::span<const std::byte> handshake_data{};  ///< see HandshakeExtension; of the packet
    std::uint32_t timestamp_us = 0;               ///< of the packet
  };
  /// Called for a client that may be let in.  none: there is no room for it now, and it is not answered
  using NumberSource = std::function<std::optional<Numbers>(bool proved)>;
  [[nodiscard]] Outcome handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                               const NumberSource& draw_numbers);

  /// See Settings.
  [[nodiscard]] std::optional<std::uint32_t> known_cookie() const { return settings_.known_cookie; }

  /// The answer to a port that takes no more connections.  empty: silence
  [[nodiscard]] static std::vector<std::byte> refusal(std::span<const std::byte> packet);

 private:
  [[nodiscard]] Outcome induct(TimePoint now, const ControlHeader& header, HandshakePacket request,
                               const Endpoint& from);
  [[nodiscard]] bool knows(TimePoint now, const Endpoint& from, const HandshakePacket& request);
  [[nodiscard]] std::uint32_t next_cookie(TimePoint now, const Endpoint& client);
  [[nodiscard]] Outcome conclude(const HandshakePacket& request, const std::optional<HandshakeExtension>& extension,
                                 const Endpoint& from, const Numbers& numbers, std::uint32_t next_cookie) const;
  PassiveOpen(const Settings& settings, KeyProof* key_proof, CookieJar cookies, std::optional<CookieJar> known,
              PrefixMeter inductions, PrefixMeter conclusions, PrefixMeter returns);

  const Settings settings_;
  KeyProof* const key_proof_;
  CookieJar cookies_;
  std::optional<CookieJar> known_;  // for the next connection of a host
  PrefixMeter inductions_;          // with a key: of clients that do not prove it
  PrefixMeter conclusions_;
  PrefixMeter returns_;  // of conclusions with a cookie of known_: a recording of one is valid, too
};

}  // namespace udtcat::transport::native
