// SPDX-License-Identifier: Apache-2.0
/// The addresses of this host that a dialer leaves from (TransportOptions::local_addresses), in turn.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::transport {

/// Threads: unsynchronised.
class LocalAddresses {
 public:
  /// Binds a socket to that address.  errors: as UdpSocket::bind()
  using Bind = std::function<Status(const Endpoint& local)>;

  explicit LocalAddresses(std::vector<Endpoint> all) : all_(std::move(all)) {}

  /// The system chooses.
  [[nodiscard]] bool empty() const { return all_.empty(); }
  /// The turn of the next dial of `peer`: the first is 0.
  [[nodiscard]] std::size_t next_turn(const Endpoint& peer);
  /// Binds to the address whose turn it is, of those of the peer's family. One that cannot be bound is passed over,
  /// with a warning the first time in this process.
  /// returns   the turn of the one that is bound
  /// errors    Errc::cannot_bind: there is none of that family, or none of them can be bound; what the first one says
  [[nodiscard]] Result<std::size_t> bind(const Endpoint& peer, std::size_t turn, const Bind& bind);

 private:
  const std::vector<Endpoint> all_;
  std::vector<std::pair<Endpoint, std::size_t>> dials_;  // so far, by peer
};

/// How many of them are of that family.
[[nodiscard]] std::size_t count_of_family(const std::vector<Endpoint>& all, AddressFamily family);

}  // namespace udtcat::transport
