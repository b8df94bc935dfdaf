// SPDX-License-Identifier: Apache-2.0
/// Datagrams between the two ends of one pair, by a UDP port of their own (docs/spec/meet.md §5).
///
///   readable ─► trains ─► each datagram: a Binding request? from a bound end? ─► the other end, or nowhere
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "lib/core/chunk.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/net/datagram_socket.hpp"
#include "meet/relay_binding.hpp"
#include "meet/token_bucket.hpp"

namespace udtcat::meet {

/// Datagrams that came from an end, by what became of them.
struct RelayCounts {
  std::uint64_t relayed_bytes = 0;
  std::uint64_t relayed_datagrams = 0;
  std::uint64_t over_rate_bytes = 0;        ///< dropped by a rate limit
  std::uint64_t undelivered_datagrams = 0;  ///< the other end is not bound, or the system had no room

  RelayCounts& operator+=(const RelayCounts& other) {
    relayed_bytes += other.relayed_bytes;
    relayed_datagrams += other.relayed_datagrams;
    over_rate_bytes += other.over_rate_bytes;
    undelivered_datagrams += other.undelivered_datagrams;
    return *this;
  }
};

/// Memory and a rate that all relays of a place share.
/// Threads: confined to the io_context thread.
struct RelayResources {
  explicit RelayResources(BitRate rate);

  core::ChunkPool chunks;
  TokenBucket bucket;                        ///< of all pairs
  std::vector<net::ReceivedTrain> received;  ///< reused by each turn
  net::DatagramTrain outgoing;               ///< likewise
};

/// The rate of one pair, which its relays share.
[[nodiscard]] std::shared_ptr<TokenBucket> bucket_of_pair(BitRate rate);

/// Queues nothing: what cannot be sent at once is dropped, as a router does it.
/// Threads: confined to the io_context thread.
class DatagramRelay {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// locals      one of each family; port 0 lets the system choose
  /// bucket      of the pair
  /// resources   outlives this
  /// errors      Errc::cannot_bind, Errc::out_of_resources, Errc::cipher_failed
  [[nodiscard]] static Result<std::unique_ptr<DatagramRelay>> open(boost::asio::io_context& io,
                                                                   const std::vector<Endpoint>& locals,
                                                                   const RelayTokens& tokens,
                                                                   std::shared_ptr<TokenBucket> bucket,
                                                                   RelayResources& resources);
  DatagramRelay(const DatagramRelay&) = delete;
  DatagramRelay& operator=(const DatagramRelay&) = delete;
  ~DatagramRelay();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::optional<Endpoint>& address_of(PairRole role) const { return end(role).address; }
  /// Of what came from that end.
  [[nodiscard]] const RelayCounts& counts(PairRole role) const { return end(role).counts; }
  /// Datagrams from addresses that are not bound, by none of the tokens.
  [[nodiscard]] std::uint64_t stray_datagrams() const { return stray_datagrams_; }
  /// When a datagram was last relayed.
  [[nodiscard]] TimePoint last_use() const { return last_use_; }

 private:
  struct RelaySocket;
  struct End {
    std::optional<Endpoint> address;
    std::optional<Endpoint> local;
    RelayCounts counts;
  };

  DatagramRelay(boost::asio::io_context& io, RelayBinding binding, std::shared_ptr<TokenBucket> bucket,
                RelayResources& resources);
  [[nodiscard]] End& end(PairRole role) { return ends_[index_of(role)]; }
  [[nodiscard]] const End& end(PairRole role) const { return ends_[index_of(role)]; }

  void wait_readable(RelaySocket& socket);
  void on_readable(RelaySocket& socket);
  void take(const net::ReceivedTrain& train);
  [[nodiscard]] bool take_binding(std::span<const std::byte> datagram, const net::ReceivedTrain& train);
  void bind(PairRole role, const Endpoint& address, const std::optional<Endpoint>& local);
  void answer(const std::vector<std::byte>& message, const net::ReceivedTrain& to);
  [[nodiscard]] std::optional<PairRole> role_at(const Endpoint& address) const;
  void relay(PairRole from, std::span<const std::byte> datagram);
  void flush();
  [[nodiscard]] RelaySocket* socket_for(AddressFamily family);

  boost::asio::io_context& io_;
  RelayResources& resources_;
  RelayBinding binding_;
  const std::shared_ptr<TokenBucket> bucket_;
  std::vector<std::unique_ptr<RelaySocket>> sockets_;
  std::array<End, kPairRoles> ends_;
  PairRole outgoing_from_ = PairRole::listener;  // of what resources_.outgoing holds
  std::uint64_t stray_datagrams_ = 0;
  std::uint16_t port_ = 0;
  TimePoint last_use_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meet
