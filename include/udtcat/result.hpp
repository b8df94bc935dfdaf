// SPDX-License-Identifier: Apache-2.0
/// The one error model of udtcat: every call that can fail returns a Result, never throws.
///
/// Faults of the environment and of the peer become an Error. A broken rule of a call (a second read while one is under
/// way, an empty buffer) is the program's own fault and aborts it, with a line on stderr that says which rule.
#pragma once

#include <string>
#include <system_error>
#include <utility>

#include <tl/expected.hpp>

namespace udtcat {

/// The kinds of failure, in the terms that a user can act on.
enum class Errc {
  // The local environment.
  bad_argument = 1,      ///< a value the caller gave is outside what is allowed
  cannot_resolve,        ///< a host name has no address
  cannot_bind,           ///< a local address or port is not ours to use
  cannot_reach,          ///< nobody answered, or the port is closed
  local_read_failed,     ///< reading from the user's side of this end failed
  local_write_failed,    ///< writing to the user's side of this end failed
  local_connect_failed,  ///< the local service a stream was meant for did not answer
  out_of_resources,      ///< threads, sockets or memory ran out
  incomplete,            ///< of several things that were asked for some are not as they should be; the others are
  interrupted,           ///< the local user asked to stop
  // The peer, speaking properly.
  authentication_failed,  ///< the peer does not hold the key that it should
  parameters_refused,     ///< key proved, but protection, cipher or direction could not be agreed
  remote_read_failed,     ///< reading from the user's side of the other end failed
  remote_write_failed,    ///< writing to the user's side of the other end failed
  remote_connect_failed,  ///< the service a stream was meant for did not answer at the other end
  stream_refused,         ///< the other end takes no such stream
  peer_interrupted,       ///< the other end was told to stop before the end
  // The path.
  peer_lost,          ///< nothing from the peer for the idle timeout, or its port is closed
  connection_broken,  ///< the transport broke before both directions had ended
  // The peer, or an attacker on the path, against the rules.
  tampered,                ///< a record failed authentication
  protocol_violated,       ///< an authenticated peer, or one at clear, broke the protocol
  peer_reports_tampering,  ///< the other end saw one of the two above
  // The cipher.
  key_exhausted,  ///< a key reached its limit; nothing more may be sealed under it
  cipher_failed,  ///< OpenSSL refused an operation that must work
};

const std::error_category& udtcat_category() noexcept;
std::error_code make_error_code(Errc e) noexcept;

/// A failure: what was tried, on what, then the cause.
///
/// what   e.g. "bind udp 0.0.0.0:9000"
/// code   one of Errc
/// cause  the foreign reason if there is one (an errno's text, one of UDT or OpenSSL); may be empty
/// errno_value   of that cause, where the system gave it; else 0
struct Error {
  Errc code{};
  std::string what;
  std::string cause;
  int errno_value = 0;

  /// "what: cause", or "what: <text of code>" where no foreign cause is known.
  [[nodiscard]] std::string message() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string what, std::string cause = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), std::move(cause)});
}

}  // namespace udtcat

template <>
struct std::is_error_code_enum<udtcat::Errc> : std::true_type {};
