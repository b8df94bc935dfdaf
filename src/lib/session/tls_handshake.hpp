// SPDX-License-Identifier: Apache-2.0
/// TLS 1.3 with ephemeral ECDHE and an external PSK or a key pair at each end, without I/O. OpenSSL does all of it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/credentials.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/secret_bytes.hpp"
#include "lib/session/key_schedule.hpp"

namespace udtcat::session {

inline constexpr std::size_t kTlsRecordHeaderBytes = 5;         // spec: RFC 8446 §5.1
inline constexpr std::size_t kMaxTlsRecordBytes = 16384 + 256;  // spec: RFC 8446 §5.2
inline constexpr std::uint32_t kMaxEarlyDataBytes = 1024;       // spec: handshake.md §3

/// The length of the TLS record body that a 5-byte header announces. Total.
/// errors: Errc::parameters_refused if the peer speaks our clear handshake instead; Errc::protocol_violated
[[nodiscard]] Result<std::size_t> tls_record_body_bytes(std::span<const std::byte, kTlsRecordHeaderBytes> header);

/// Sans-I/O: feed it whole records, send what it gives. Never sees a byte beyond the handshake's last record.
/// Threads: unsynchronised.
class TlsHandshake {
 public:
  /// applications   for one of which a peer's key pair has to be good; not empty. A shared key is good for all
  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<TlsHandshake> create(Role role, const Credentials& credentials,
                                                   std::vector<std::string> applications);
  TlsHandshake(TlsHandshake&&) noexcept;
  TlsHandshake& operator=(TlsHandshake&&) noexcept;
  ~TlsHandshake();

  /// Begins (the connector's first flight); the listener's does nothing.
  /// early   goes with it, sealed under the key alone: it can be recorded and sent again, and is readable once the key
  ///         leaks; at most kMaxEarlyDataBytes, none of the listener's and none with a key pair
  /// errors  Errc::cipher_failed
  [[nodiscard]] Status start(std::span<const std::byte> early = {});
  /// One whole record, header included.
  /// errors   Errc::authentication_failed: the keys differ, or the peer says so; those of KnownPeers::recognise();
  ///          Errc::protocol_violated
  [[nodiscard]] Status receive(std::span<const std::byte> record);
  /// The peer has gone before done().  returns: why, as far as it has shown that; else `broken`, the channel's error
  [[nodiscard]] Error why_broken(Error broken) const;
  /// Bytes for the peer, also after an error (the alert). Empty when there are none.
  [[nodiscard]] std::vector<std::byte> take_output();

  /// The peer has proved the key.
  [[nodiscard]] bool done() const;
  /// When done(): the holder of the key pair at the other end; none with a shared key.
  [[nodiscard]] std::optional<PeerIdentity> peer() const;
  /// Connector, when done(): what it said early has reached the listener's user.
  [[nodiscard]] bool early_data_taken() const;
  /// Seals application data into the output. Only when done(), or as the listener's answer to early data, which only a
  /// holder of the key can read.  errors: Errc::cipher_failed
  [[nodiscard]] Status write(std::span<const std::byte> plaintext);
  /// Application data decrypted so far; emptied by the call. Before done() it is early data.
  [[nodiscard]] std::vector<std::byte> take_input();
  /// RFC 8446 §7.5. Only when done(). Ends that give another context get another secret.  errors: Errc::cipher_failed
  [[nodiscard]] Result<crypto::SecretBytes<KeySchedule::kExporterBytes>> exporter(
      std::span<const std::byte> context) const;

 private:
  struct State;
  explicit TlsHandshake(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace udtcat::session
