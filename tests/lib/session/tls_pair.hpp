// SPDX-License-Identifier: Apache-2.0
/// Two TLS machines and the bytes between them.
#pragma once

#include <optional>

#include <udtcat/credentials.hpp>

#include "lib/session/tls_handshake.hpp"
#include "support/bytes.hpp"

namespace udtcat::session::test {

using udtcat::test::Bytes;

inline Key key_of(std::byte fill) {
  // A key has no way in but its text, and a fixed one keeps the tests repeatable.
  return *Key::parse(fill == std::byte{0} ? "udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p"
                                          : "udtcat1-4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v-UMsGn");
}

/// Cuts what a machine gave into whole TLS records; what is left over at the end is dropped, as a channel that breaks
/// would.
inline std::vector<Bytes> records_of(std::span<const std::byte> bytes) {
  std::vector<Bytes> records;
  while (bytes.size() >= kTlsRecordHeaderBytes) {
    const auto body = tls_record_body_bytes(bytes.first<kTlsRecordHeaderBytes>());
    if (!body || bytes.size() < kTlsRecordHeaderBytes + *body) break;
    const auto record = bytes.first(kTlsRecordHeaderBytes + *body);
    records.emplace_back(record.begin(), record.end());
    bytes = bytes.subspan(record.size());
  }
  return records;
}

/// One end, with the first thing that went wrong for it.
struct End {
  End(Role role, const Credentials& key, std::span<const std::byte> early = {})
      : tls(std::move(*TlsHandshake::create(role, key, {"pipe"}))) {
    if (const Status started = tls.start(early); !started) error = started.error();
  }

  void receive(std::span<const std::byte> bytes) {
    for (const Bytes& record : records_of(bytes))
      if (!error)
        if (const Status received = tls.receive(record); !received) error = received.error();
  }
  [[nodiscard]] std::string exported(std::span<const std::byte> context = {}) const {
    return udtcat::test::to_hex(tls.exporter(context)->bytes());
  }
  [[nodiscard]] std::optional<Errc> code() const { return error ? std::optional(error->code) : std::nullopt; }

  TlsHandshake tls;
  std::optional<Error> error;
};

struct Pair {
  Pair(const Credentials& connector_key, const Credentials& listener_key, std::span<const std::byte> early = {})
      : connector(Role::connector, connector_key, early), listener(Role::listener, listener_key) {}

  /// Carries flights until both are silent; `change` may alter each: 0 ClientHello, 1 the listener's answer, 2 Finished
  /// …
  template <typename Change>
  void run(Change change) {
    for (int flight = 0; flight < 6; ++flight) {
      End& from = flight % 2 == 0 ? connector : listener;
      End& to = flight % 2 == 0 ? listener : connector;
      Bytes bytes = from.tls.take_output();
      if (!bytes.empty()) change(flight, bytes);
      to.receive(bytes);
    }
  }
  void run() {
    run([](int, Bytes&) {});
  }

  End connector;
  End listener;
};

}  // namespace udtcat::session::test
