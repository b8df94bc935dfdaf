/// OpenSSL's TLS errors as ours.
#pragma once

#include <udtcat/result.hpp>

#include "lib/session/key_schedule.hpp"

namespace udtcat::session {

/// Why the last TLS call of this thread failed; empties OpenSSL's error queue.
/// gives: Errc::authentication_failed or Errc::protocol_violated, see docs/spec/handshake.md §3
[[nodiscard]] Error take_tls_error(Role role);

}  // namespace udtcat::session
