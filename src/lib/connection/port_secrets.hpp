// SPDX-License-Identifier: Apache-2.0
/// The parts of an end's credentials that its port and its connections ask for.
#pragma once

#include <memory>

#include <udtcat/credentials.hpp>

#include "lib/session/key_schedule.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {

/// credentials   none at clear; borrowed
[[nodiscard]] inline transport::PortSecrets port_secrets(session::Role role, const Credentials* credentials) {
  if (credentials == nullptr) return {};
  if (const Key* key = credentials->shared()) return {.own = key->bytes(), .admission_key = key->bytes()};
  const PairCredentials& pair = *credentials->pair();
  const PublicKey* listener = pair.listener ? &*pair.listener : nullptr;
  if (role == session::Role::listener) listener = &pair.own->public_key();
  transport::PortSecrets secrets{.own = pair.own->secret(), .admission_key = {}};
  if (listener != nullptr) secrets.admission_key = listener->bytes();
  return secrets;
}

/// Null without a key pair.
[[nodiscard]] inline std::shared_ptr<KnownPeers> known_peers_of(const Credentials* credentials) {
  const PairCredentials* pair = credentials == nullptr ? nullptr : credentials->pair();
  return pair == nullptr ? nullptr : pair->peers;
}

}  // namespace udtcat::connection
