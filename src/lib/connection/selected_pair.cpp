// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/selected_pair.hpp"

#include <algorithm>

#include "lib/net/interface_addresses.hpp"

namespace udtcat::connection {

std::optional<CandidatePair> SelectedPair::at(const Endpoint& path, TransportKind transport) {
  const bool by_tcp = transport == TransportKind::tcp;
  // Of a peer whose address only a proxy knows there is the wildcard.
  if (path.is_wildcard() || path == tunnel_address(path.family())) return std::nullopt;
  if (last_ && last_->remote.address == path && last_->by_tcp == by_tcp) return last_;
  const auto known = std::ranges::find(remotes_, path, &Candidate::address);
  const auto kind = known != remotes_.end() ? known->kind : Candidate::Kind::peer_reflexive;
  last_ = CandidatePair{.local = local_towards(path, by_tcp), .remote = {kind, path}, .by_tcp = by_tcp};
  return last_;
}

/// Of TCP the port is the system's choice, which nobody has asked for.
Candidate SelectedPair::local_towards(const Endpoint& path, bool by_tcp) const {
  const auto local = std::ranges::find(locals_, path.family(), &Endpoint::family);
  const std::uint16_t port = local != locals_.end() && !by_tcp ? local->port() : std::uint16_t{0};
  const auto source = net::source_address(path);
  return {Candidate::Kind::host, (source ? *source : local != locals_.end() ? *local : Endpoint()).with_port(port)};
}

}  // namespace udtcat::connection
