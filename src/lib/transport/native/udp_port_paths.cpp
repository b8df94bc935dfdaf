// SPDX-License-Identifier: Apache-2.0
// The paths of a port's connections: what routers say of them, what is remembered of them, and another port of our own
// where a peer is silent.
#include <algorithm>
#include <utility>

#include <udtcat/units.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSendBufferBytes = 4 * kMiB;  // guess
constexpr std::size_t kPathErrorsAtOnce = 64;       // guess
constexpr Duration kRebindSilence = 4s;             // guess: longer than most outages, shorter than a user's patience
constexpr std::size_t kMaxRebinds = 4;              // guess: 4, 8, 16 and 32 s apart

}  // namespace

net::DatagramSocket::Options UdpPort::socket_options(const TransportOptions& options, std::uint32_t mss) {
  return {.offload = options.offload,
          .tell_local = true,
          .receive_buffer_bytes = kReceiveBufferBytes,
          .send_buffer_bytes = kSendBufferBytes,
          .datagram_bytes = mss,
          .keep_path_errors = true};
}

void UdpPort::take_path_errors(TimePoint now) {
  for (const net::PathError& error : socket_.take_path_errors(kPathErrorsAtOnce)) {
    openings_.handle_path_error(error);
    for (const auto& [id, link] : links_) {
      if (link->connection.peer_address() != error.peer) continue;
      if (error.port_unreachable) link->connection.handle_port_closed(now);
      if (error.path_mtu > 0) link->connection.handle_path_mtu(now, error.path_mtu);
    }
  }
}

std::optional<KnownPath> UdpPort::path_to(const Endpoint& peer) const {
  return options_.known_paths ? options_.known_paths->find(peer) : std::nullopt;
}

void UdpPort::tell_trains_off(UdtLink& link) {
  const UdtConnection& connection = link.connection;
  if (!connection.trains_off() || std::exchange(link.trains_off, true)) return;
  core::log().warn(
      "the path to {} loses trains of datagrams that the system cuts (UDP_SEGMENT): they go one by one for an hour",
      connection.peer_address().to_string());
  note_path(connection);
}

/// A relay on this host is no path of the peer's.
void UdpPort::note_path(const UdtConnection& connection) {
  const Endpoint peer = connection.peer_address();
  if (options_.known_paths && connection.is_where_it_began()) options_.known_paths->note(peer, connection.known_path());
}

/// A NAT, a firewall or a router on the way may have forgotten this port, or remember it wrongly.
void UdpPort::rebind_if_silent(TimePoint now, const UdtLink& link) {
  if (!may_rebind_ || left_.size() == kMaxRebinds || blocked_ != nullptr || !link.connection.is_where_it_began() ||
      link.connection.tries_path())
    return;
  const auto since = link.connection.unanswered_since();
  if (!since || now - std::max(*since, rebound_at_) < kRebindSilence * (1U << left_.size())) return;
  const auto rebound = rebind();
  rebound_at_ = now;
  const std::string peer = link.connection.peer_address().to_string();
  if (rebound)
    core::log().info("{} is silent: packets leave from another port of this host", peer);
  else
    core::log().info("{} is silent: {}", peer, rebound.error().message());
}

Status UdpPort::rebind() {
  UDTCAT_TRY(net::UdpSocket socket, net::UdpSocket::open(local_.family()));
  UDTCAT_CHECK(socket.bind(local_.with_port(0)));
  UDTCAT_TRY(net::DatagramSocket fresh, net::DatagramSocket::make(std::move(socket), socket_options(options_, mss_)));
  const bool watched = readable_.is_open();
  if (watched) readable_.release();
  left_.push_back(std::exchange(socket_, std::move(fresh)));
  may_fragment_ = true;
  drops_told_ = 0;
  if (watched) wait_readable();
  return {};
}

// ---- A tunnel -----------------------------------------------------------------------------------------------------

void UdpPort::set_tunnel(AddressFamily family, std::function<void(std::span<const std::byte>)> send) {
  tunnel_ = tunnel_address(family);
  into_tunnel_ = std::move(send);
}

net::SendResult UdpPort::send(const net::DatagramTrain& train) {
  if (!into_tunnel_ || !(train.to == tunnel_)) return socket_.send(train);
  auto piece = train.pieces.begin();
  for (const std::uint16_t pieces : train.piece_counts) {
    tunnelled_.clear();
    for (const auto end = piece + pieces; piece != end; ++piece)
      tunnelled_.insert(tunnelled_.end(), piece->begin(), piece->end());
    into_tunnel_(tunnelled_);
  }
  return {net::SendState::sent, train.datagrams()};
}

void UdpPort::take_from_tunnel(std::span<const std::byte> packet) {
  if (!into_tunnel_ || packet.empty() || packet.size() > chunks_.chunk_bytes()) return;
  net::ReceivedTrain train{.chunk = chunks_.acquire(),
                           .total_bytes = packet.size(),
                           .segment_bytes = packet.size(),
                           .from = tunnel_,
                           .to = {}};
  std::ranges::copy(packet, train.chunk.bytes().begin());
  handle_train(clock_now(), train);
  settle_touched();
}

}  // namespace udtcat::transport::native
