/// Offers and limits of a server.
#pragma once

#include <chrono>
#include <cstddef>

#include <udtcat/options.hpp>

#include "gridftp/transfer.hpp"

namespace udtcat::gridftp {

/// What the clients of one prefix may have: of an IPv4 /24, an IPv6 /56.
struct Share {
  std::size_t clients;  ///< beyond it, 421
};

struct ServeOptions {
  bool read_only = false;
  bool third_party = false;              ///< data may go to, and come from, other hosts than the client's
  DataOptions data;                      ///< for sessions: the key, if there is one
  Protection least = Protection::clear;  ///< of the data: what is weaker is refused
  /// Beyond it, 421.
  std::size_t most_clients = 256;        // guess: with three descriptors each they stay below the usual limit of 1024
  Share of_strangers{.clients = 32};     ///< guess: an eighth, enough for a site and short of all
  Share of_key_holders{.clients = 128};  ///< guess: half, the nodes of a cluster
  std::chrono::seconds login_patience{60};  ///< guess
  std::chrono::seconds idle_patience{600};  ///< guess; as Globus' server
};

}  // namespace udtcat::gridftp
