// SPDX-License-Identifier: Apache-2.0
/// Listening ports of TCP, one for each address family.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/ip_prefix.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/tcp/passive_open.hpp"
#include "lib/transport/tcp/preface.hpp"
#include "lib/transport/tcp/relayed_half.hpp"
#include "lib/transport/tcp/tcp_connection.hpp"
#include "lib/transport/tcp/tcp_socket.hpp"

namespace udtcat::transport::tcp {

/// Threads: confined, as Channel.
class TcpAcceptor final : public Acceptor {
 public:
  /// Makes a connection, which is to be released.
  /// memory   how many bytes it is to have while so many others are there; none: those of the options
  using AdmissionHandler =
      std::function<TcpConnection&(Socket socket, const Endpoint& peer, bool proved, const MemoryShare& memory)>;
  /// proof   null: without a key; outlives this
  TcpAcceptor(boost::asio::io_context& io, std::vector<ListenerSocket> sockets, const TransportOptions& options,
              PrefaceProof* proof, AdmissionHandler adopt);
  ~TcpAcceptor() override;
  TcpAcceptor(const TcpAcceptor&) = delete;
  TcpAcceptor& operator=(const TcpAcceptor&) = delete;

  void async_accept(ChannelHandler handler) override;
  void share_memory(MemoryShare share) override { memory_share_ = std::move(share); }
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override;
  void on_relay(RelayHandler handler) override { on_relay_ = std::move(handler); }
  void wait_at(const Endpoint& relay, const RelayToken& token, const std::string& name) override;

 private:
  struct Port {
    ListenerSocket socket;
    boost::asio::steady_timer pause;
    bool is_failing = false;  // which is said once
  };
  /// A connection whose preface is not whole yet.
  struct PendingPeer {
    Endpoint peer;
    core::Prefix prefix = 0;
    std::unique_ptr<PassiveOpen> preface{};
  };
  using PendingPeers = std::list<PendingPeer>;  // the oldest first

  void take_next(Port& port);
  void begin(Socket socket, const Endpoint& peer);
  void make_room();
  void on_preface(PendingPeers::iterator pending, const std::optional<PassiveOpen::Opened>& opened);
  [[nodiscard]] bool has_room(bool proved) const;
  void hand_on();

  boost::asio::io_context& io_;
  const TransportOptions options_;
  PrefaceProof* const proof_;
  const AdmissionHandler adopt_;
  std::list<Port> ports_;
  PendingPeers pending_;
  std::list<std::unique_ptr<RelayedHalf>> relayed_;  // that wait for the other end; the oldest first
  RelayHandler on_relay_;
  MemoryShare memory_share_;
  std::deque<TcpConnection*> waiting_;  // let in, and not accepted yet
  std::size_t waiting_proved_ = 0;      // of them
  ChannelHandler handler_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::tcp
