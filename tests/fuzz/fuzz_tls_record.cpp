// SPDX-License-Identifier: Apache-2.0
// A stranger's bytes at a listener: cut into TLS records as the session does it, fed to the handshake. It never ends
// well, since a stranger makes no binder and no signature, and every end of it is an error of ours.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include <udtcat/credentials.hpp>

#include "lib/session/tls_handshake.hpp"

namespace fuzz_tls_record {

using namespace udtcat;
using namespace udtcat::session;

namespace {

Credentials pair_that_knows_itself() {
  auto own = std::make_shared<const KeyPair>(
      *KeyPair::parse("udtcat-ed25519-secret-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p"));
  const PublicKey itself = own->public_key();
  return PairCredentials{std::move(own), one_known_peer({"itself", itself})};
}

void listen_to(std::span<const std::byte> in, const Credentials& key) {
  auto listener = TlsHandshake::create(Role::listener, key, {"pipe"});
  if (!listener || !listener->start()) std::abort();
  while (in.size() >= kTlsRecordHeaderBytes) {
    const auto body_bytes = tls_record_body_bytes(in.first<kTlsRecordHeaderBytes>());
    if (!body_bytes || in.size() < kTlsRecordHeaderBytes + *body_bytes) break;
    const auto received = listener->receive(in.first(kTlsRecordHeaderBytes + *body_bytes));
    in = in.subspan(kTlsRecordHeaderBytes + *body_bytes);
    const auto output = listener->take_output();
    if (output.size() > kMaxTlsRecordBytes) std::abort();
    if (received) continue;
    if (received.error().code != Errc::authentication_failed && received.error().code != Errc::protocol_violated)
      std::abort();
    break;
  }
  if (listener->done()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Credentials shared = *Key::parse("udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p");
  static const Credentials pair = pair_that_knows_itself();
  const auto in = std::as_bytes(std::span(data, size));
  for (const Credentials* key : {&shared, &pair}) listen_to(in, *key);
  return 0;
}

}  // namespace fuzz_tls_record
