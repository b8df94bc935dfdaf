// SPDX-License-Identifier: Apache-2.0
#include "lib/session/tls_handshake.hpp"

#include <array>
#include <string_view>

#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"
#include "lib/crypto/openssl.hpp"
#include "lib/session/parameter_items.hpp"
#include "lib/session/tls_context.hpp"

namespace udtcat::session {

namespace {

constexpr std::string_view kExporterLabel = "EXPORTER-udtcat-2";  // spec: handshake.md §5
constexpr std::byte kFirstContentType{20};                        // spec: RFC 8446 §5.1: change_cipher_spec
constexpr std::byte kLastContentType{23};                         // spec: RFC 8446 §5.1: application_data
constexpr std::byte kVersionMajor{3};                             // spec: RFC 8446 §5.1: legacy_record_version

tl::unexpected<Error> not_a_record(const char* why) { return fail(Errc::protocol_violated, "read a TLS record", why); }

bool is_one_record(std::span<const std::byte> record) {
  if (record.size() < kTlsRecordHeaderBytes) return false;
  const auto body_bytes = tls_record_body_bytes(record.first<kTlsRecordHeaderBytes>());
  return body_bytes && record.size() == kTlsRecordHeaderBytes + *body_bytes;
}

}  // namespace

Result<std::size_t> tls_record_body_bytes(std::span<const std::byte, kTlsRecordHeaderBytes> header) {
  if (begins_with_magic(header))
    return fail(Errc::parameters_refused, "agree on protection",
                "the peer is at clear, this end is not; both ends need the same --protect");
  if (header[0] < kFirstContentType || header[0] > kLastContentType || header[1] != kVersionMajor)
    return not_a_record("it is none");
  const std::size_t body_bytes = core::load_be<std::uint16_t>(header.subspan<3>());
  if (body_bytes == 0 || body_bytes > kMaxTlsRecordBytes) return not_a_record("its length is out of range");
  return body_bytes;
}

///   listener:   early ──no more early data can come──► handshaking ──► done
///   connector, and both ends with key pairs:           handshaking ──► done
///   any ──an error──► failed, for good
struct TlsHandshake::State {
  enum class Phase { early, handshaking, done, failed };

  Status give_up(Error why) {
    phase = Phase::failed;
    error = std::move(why);
    return tl::unexpected(error);
  }

  Status advance();
  Status take_early_data();
  Status read_application_data();

  const Role role;
  TlsConnection connection;
  Phase phase = role == Role::listener && !connection.check ? Phase::early : Phase::handshaking;
  Error error{};                       // set exactly in Phase::failed
  std::vector<std::byte> plaintext{};  // application data of the peer
};

// Lets OpenSSL go on as far as its input reaches.
Status TlsHandshake::State::advance() {
  crypto::clear_openssl_errors();
  if (phase == Phase::early)
    if (auto taken = take_early_data(); !taken || phase == Phase::early) return taken;
  SSL* tls = connection.tls.get();
  const int outcome = SSL_do_handshake(tls);
  if (outcome == 1) {
    if (!has_proved_key(connection)) return give_up({Errc::authentication_failed, "TLS handshake", {}});
    phase = Phase::done;
    return {};
  }
  if (SSL_get_error(tls, outcome) == SSL_ERROR_WANT_READ) return {};
  return give_up(take_tls_error(role, connection));
}

Status TlsHandshake::State::take_early_data() {
  std::array<std::byte, kMaxEarlyDataBytes> piece;
  for (;;) {
    std::size_t length = 0;
    SSL* tls = connection.tls.get();
    const int outcome = SSL_read_early_data(tls, piece.data(), piece.size(), &length);
    plaintext.insert(plaintext.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(length));
    if (outcome == SSL_READ_EARLY_DATA_SUCCESS) continue;
    if (outcome == SSL_READ_EARLY_DATA_FINISH) phase = Phase::handshaking;
    if (phase == Phase::handshaking || SSL_get_error(tls, 0) == SSL_ERROR_WANT_READ) return {};
    return give_up(take_tls_error(role, connection));
  }
}

Status TlsHandshake::State::read_application_data() {
  crypto::clear_openssl_errors();
  SSL* tls = connection.tls.get();
  std::array<std::byte, 4096> piece;
  std::size_t length = 0;
  while (SSL_read_ex(tls, piece.data(), piece.size(), &length) == 1)
    plaintext.insert(plaintext.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(length));
  switch (SSL_get_error(tls, 0)) {
    case SSL_ERROR_WANT_READ:
      return {};
    case SSL_ERROR_ZERO_RETURN:
      return give_up({Errc::protocol_violated, "TLS handshake", "the peer ended TLS before its answer"});
    default:
      return give_up(take_tls_error(role, connection));
  }
}

Result<TlsHandshake> TlsHandshake::create(Role role, const Credentials& credentials,
                                          std::vector<std::string> applications) {
  return make_tls_connection(role, credentials, std::move(applications)).map([&](TlsConnection&& connection) {
    return TlsHandshake(std::unique_ptr<State>(new State{role, std::move(connection)}));
  });
}

TlsHandshake::TlsHandshake(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsHandshake::TlsHandshake(TlsHandshake&&) noexcept = default;
TlsHandshake& TlsHandshake::operator=(TlsHandshake&&) noexcept = default;
TlsHandshake::~TlsHandshake() = default;

Status TlsHandshake::start(std::span<const std::byte> early) {
  if (state_->role == Role::listener) return {};
  if (early.empty()) return state_->advance();
  UDTCAT_INVARIANT(!state_->connection.check, "without a shared key there is none to seal early data under");
  crypto::clear_openssl_errors();
  std::size_t written = 0;
  if (SSL_write_early_data(state_->connection.tls.get(), early.data(), early.size(), &written) != 1)
    return state_->give_up(crypto::openssl_failed("begin TLS").value());
  return {};
}

Status TlsHandshake::receive(std::span<const std::byte> record) {
  if (state_->phase == State::Phase::failed) return tl::unexpected(state_->error);
  if (!is_one_record(record)) return state_->give_up(not_a_record("it is not exactly one").value());
  if (BIO_write(state_->connection.input, record.data(), static_cast<int>(record.size())) !=
      static_cast<int>(record.size()))
    return state_->give_up(crypto::openssl_failed("keep a TLS record").value());
  if (state_->phase == State::Phase::done) return state_->read_application_data();
  return state_->advance();
}

Error TlsHandshake::why_broken(Error broken) const {
  return session::why_broken(std::move(broken), state_->connection);
}

std::vector<std::byte> TlsHandshake::take_output() {
  std::vector<std::byte> output(BIO_ctrl_pending(state_->connection.output));
  if (!output.empty()) {
    const int taken = BIO_read(state_->connection.output, output.data(), static_cast<int>(output.size()));
    UDTCAT_INVARIANT(taken == static_cast<int>(output.size()), "a memory BIO gives all it holds");
  }
  return output;
}

bool TlsHandshake::done() const { return state_->phase == State::Phase::done; }

std::optional<PeerIdentity> TlsHandshake::peer() const {
  UDTCAT_INVARIANT(done(), "a peer is known when it has proved its key");
  return state_->connection.check ? state_->connection.check->recognised : std::nullopt;
}

bool TlsHandshake::early_data_taken() const {
  return SSL_get_early_data_status(state_->connection.tls.get()) == SSL_EARLY_DATA_ACCEPTED;
}

Status TlsHandshake::write(std::span<const std::byte> plaintext) {
  UDTCAT_INVARIANT(done() || state_->role == Role::listener, "a connector has said early what it has to say");
  if (plaintext.empty()) return {};
  crypto::clear_openssl_errors();
  std::size_t written = 0;
  const auto seal = done() ? SSL_write_ex : SSL_write_early_data;
  if (seal(state_->connection.tls.get(), plaintext.data(), plaintext.size(), &written) != 1)
    return state_->give_up(crypto::openssl_failed("seal a TLS record").value());
  return {};
}

std::vector<std::byte> TlsHandshake::take_input() { return std::exchange(state_->plaintext, {}); }

Result<crypto::SecretBytes<KeySchedule::kExporterBytes>> TlsHandshake::exporter(
    std::span<const std::byte> context) const {
  UDTCAT_INVARIANT(done(), "there is no secret before the key is proved");
  crypto::SecretBytes<KeySchedule::kExporterBytes> secret;
  // SAFETY: unsigned char may alias anything, std::byte included.
  auto* out = reinterpret_cast<unsigned char*>(secret.writable().data());
  const auto* about = reinterpret_cast<const unsigned char*>(context.data());
  if (SSL_export_keying_material(state_->connection.tls.get(), out, KeySchedule::kExporterBytes, kExporterLabel.data(),
                                 kExporterLabel.size(), about, context.size(), 1) != 1)
    return crypto::openssl_failed("export the session's secret");
  return secret;
}

}  // namespace udtcat::session
