// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/tcp_acceptor.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"
#include "lib/net/accept_errors.hpp"
#include "lib/transport/tcp/tcp_channel.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr std::size_t kBacklog = 16;            // spec: tcp.md §2: while nobody takes any, of each kind
constexpr std::size_t kBurst = 256;             // spec: tcp.md §2: while somebody does
constexpr std::size_t kMostPendingPeers = 256;  // spec: tcp.md §2
constexpr std::size_t kMostRelayed = 128;       // guess: as many pairs as a listener has at a time
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};  // guess: some are closed soon

}  // namespace

TcpAcceptor::TcpAcceptor(boost::asio::io_context& io, std::vector<ListenerSocket> sockets,
                         const TransportOptions& options, PrefaceProof* proof, AdmissionHandler adopt)
    : io_(io), options_(options), proof_(proof), adopt_(std::move(adopt)) {
  for (ListenerSocket& socket : sockets) {
    ports_.push_back({std::move(socket), boost::asio::steady_timer(io)});
    take_next(ports_.back());
  }
}

TcpAcceptor::~TcpAcceptor() {
  for (TcpConnection* const connection : waiting_) connection->release();
}

void TcpAcceptor::async_accept(ChannelHandler handler) {
  UDTCAT_INVARIANT(!handler_, "an acceptor has one accept at a time");
  handler_ = std::move(handler);
  hand_on();
}

std::vector<Endpoint> TcpAcceptor::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const Port& port : ports_) locals.push_back(local_of(port.socket));
  return locals;
}

void TcpAcceptor::take_next(Port& port) {
  port.socket.async_accept(lifetime_.guard([this, &port](const boost::system::error_code& error, Socket socket) {
    if (!error || net::is_of_one_client(error)) {
      port.is_failing = false;
      take_next(port);
      boost::system::error_code gone;
      const auto from = socket.is_open() ? socket.remote_endpoint(gone) : boost::asio::ip::tcp::endpoint();
      if (const auto peer = Endpoint::from_sockaddr(from.data(), from.size()); !error && !gone && peer)
        begin(std::move(socket), *peer);
      return;
    }
    if (!std::exchange(port.is_failing, true))
      core::log().warn("accept tcp {}: {}", local_of(port.socket).to_string(), error.message());
    port.pause.expires_after(kPauseWithoutDescriptors);
    port.pause.async_wait(lifetime_.guard([this, &port](const boost::system::error_code& cancelled) {
      if (!cancelled) take_next(port);
    }));
  }));
}

void TcpAcceptor::begin(Socket socket, const Endpoint& peer) {
  make_room();
  const auto pending = pending_.insert(pending_.end(), PendingPeer{.peer = peer, .prefix = core::prefix_of(peer)});
  pending->preface = std::make_unique<PassiveOpen>(
      io_, std::move(socket), proof_,
      PassiveOpen::Handlers{
          .has_room = [this](bool proved) { return has_room(proved); },
          .on_done = [this,
                      pending](const std::optional<PassiveOpen::Opened>& opened) { on_preface(pending, opened); }});
}

/// The slowest gives way, of the prefix with the most, so that no prefix takes another's share.
void TcpAcceptor::make_room() {
  if (pending_.size() < kMostPendingPeers) return;
  core::PrefixCounts held;
  for (const PendingPeer& each : pending_) held.add(each.prefix);
  pending_.erase(std::max_element(pending_.begin(), pending_.end(), [&](const PendingPeer& a, const PendingPeer& b) {
    return held.of(a.prefix) < held.of(b.prefix);
  }));
}

void TcpAcceptor::on_preface(PendingPeers::iterator pending, const std::optional<PassiveOpen::Opened>& opened) {
  const PendingPeer done = std::move(*pending);
  pending_.erase(pending);
  if (!opened) return;
  if (opened->relay_token) {
    if (on_relay_) on_relay_(done.preface->take_socket(), *opened->relay_token, done.peer);
    return;
  }
  waiting_.push_back(&adopt_(done.preface->take_socket(), done.peer, opened->proved, memory_share_));
  if (opened->proved) ++waiting_proved_;
  hand_on();
}

void TcpAcceptor::wait_at(const Endpoint& relay, const RelayToken& token, const std::string& name) {
  // The place may ask for as many as the other end likes to have: one for each token is enough.
  if (std::ranges::any_of(relayed_, [&](const auto& each) { return each && each->token() == token; })) return;
  if (relayed_.size() == kMostRelayed) relayed_.pop_front();
  TransportOptions options = options_;
  options.proxied_host = name;
  const auto half = relayed_.emplace(relayed_.end());
  *half = std::make_unique<RelayedHalf>(io_, relay, token, options, [this, half, relay](Result<Socket> other_end) {
    const auto done = std::move(*half);  // which is calling
    relayed_.erase(half);
    if (other_end) return begin(std::move(*other_end), relay);
    core::log().info("{}", other_end.error().message());
  });
}

/// Clients that have proved the key have room of their own, which others cannot fill.
bool TcpAcceptor::has_room(bool proved) const {
  const std::size_t alike = proved ? waiting_proved_ : waiting_.size() - waiting_proved_;
  return alike < (handler_ ? kBurst : kBacklog);
}

void TcpAcceptor::hand_on() {
  if (!handler_ || waiting_.empty()) return;
  boost::asio::post(io_, lifetime_.guard([this] {
    if (!handler_ || waiting_.empty()) return;
    TcpConnection* const next = waiting_.front();
    waiting_.pop_front();
    if (next->proved()) --waiting_proved_;
    const ChannelHandler handler = std::exchange(handler_, nullptr);  // the handler may accept again, or destroy this
    handler(std::make_unique<TcpChannel>(io_, *next));
  }));
}

}  // namespace udtcat::transport::tcp
