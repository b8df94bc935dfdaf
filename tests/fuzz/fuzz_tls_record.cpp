// A stranger's bytes at a listener: cut into TLS records as the session does it, fed to the handshake. It never ends
// well, since a stranger cannot make a binder, and every end of it is an error of ours.
#include <cstdint>
#include <cstdlib>
#include <span>

#include <udtcat/credentials.hpp>

#include "lib/session/tls_handshake.hpp"

using namespace udtcat;
using namespace udtcat::session;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Credentials key = *Key::parse("udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p");
  auto in = std::as_bytes(std::span(data, size));
  auto listener = TlsHandshake::create(Role::listener, key, Purpose::pipe);
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
  return 0;
}
