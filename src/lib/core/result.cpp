// SPDX-License-Identifier: Apache-2.0
#include <udtcat/result.hpp>

namespace udtcat {

namespace {

const char* text_of(Errc code) {
  switch (code) {
    case Errc::bad_argument:
      return "a value is outside what is allowed";
    case Errc::cannot_resolve:
      return "the name has no address";
    case Errc::cannot_bind:
      return "the local address cannot be used";
    case Errc::cannot_reach:
      return "nobody answers";
    case Errc::local_read_failed:
      return "reading failed on this host";
    case Errc::local_write_failed:
      return "writing failed on this host";
    case Errc::local_connect_failed:
      return "the local service does not answer";
    case Errc::out_of_resources:
      return "threads, sockets or memory ran out";
    case Errc::incomplete:
      return "not all of it is as it should be";
    case Errc::interrupted:
      return "interrupted";
    case Errc::authentication_failed:
      return "the peer does not hold our key";
    case Errc::parameters_refused:
      return "the two ends ask for different things";
    case Errc::remote_read_failed:
      return "reading failed on the other host";
    case Errc::remote_write_failed:
      return "writing failed on the other host";
    case Errc::remote_connect_failed:
      return "the service at the other end does not answer";
    case Errc::stream_refused:
      return "the other end takes no such stream";
    case Errc::peer_interrupted:
      return "the other end was interrupted";
    case Errc::peer_lost:
      return "the peer has gone silent";
    case Errc::connection_broken:
      return "the connection broke before the end";
    case Errc::tampered:
      return "a record failed authentication";
    case Errc::protocol_violated:
      return "the peer broke the protocol";
    case Errc::peer_reports_tampering:
      return "the other end saw a record that failed authentication";
    case Errc::key_exhausted:
      return "a key has reached its limit";
    case Errc::cipher_failed:
      return "OpenSSL refused an operation";
  }
  return "unknown error";
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "udtcat"; }
  std::string message(int code) const override { return text_of(static_cast<Errc>(code)); }
};

}  // namespace

const std::error_category& udtcat_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(Errc e) noexcept { return {static_cast<int>(e), udtcat_category()}; }

std::string Error::message() const {
  const std::string reason = cause.empty() ? text_of(code) : cause;
  return what.empty() ? reason : what + ": " + reason;
}

}  // namespace udtcat
