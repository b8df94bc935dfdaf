// SPDX-License-Identifier: Apache-2.0
/// The names by which ends are known to a meeting place: docs/spec/meet.md §2.
#pragma once

#include <memory>

#include <udtcat/credentials.hpp>
#include <udtcat/key.hpp>
#include <udtcat/key_pair.hpp>
#include <udtcat/result.hpp>

namespace udtcat::meeting {

/// The key pair whose public half is this end's name, and with which it signs.  errors: Errc::cipher_failed
[[nodiscard]] Result<std::shared_ptr<const KeyPair>> own_name(const Credentials& credentials);
/// The name of the listener that a connector wants.
/// errors: Errc::bad_argument: it does not know the listener's key; Errc::cipher_failed
[[nodiscard]] Result<PublicKey> listener_name(const Credentials& credentials);
/// The key of a place that serves everybody.  errors: Errc::cipher_failed
[[nodiscard]] Result<Key> public_place_key();

}  // namespace udtcat::meeting
