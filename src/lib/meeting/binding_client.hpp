// SPDX-License-Identifier: Apache-2.0
/// A client of STUN's Binding (RFC 8489), by a port that others read: this end's address as servers see it, and its
/// binding at a relay.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meeting {

/// Threads: confined to the io_context thread, where handlers are called, never from inside a call.
class BindingClient {
 public:
  using Send = std::function<void(const Endpoint& server, std::vector<std::byte> message)>;
  /// mapped   this end as the server sees it; none: it did not answer, or refused
  using Handler = std::function<void(const std::optional<Endpoint>& mapped)>;

  BindingClient(boost::asio::io_context& io, Send send) : io_(io), send_(std::move(send)) {}
  BindingClient(const BindingClient&) = delete;
  BindingClient& operator=(const BindingClient&) = delete;
  ~BindingClient() = default;

  /// Asks, and again where nothing comes, for two seconds. A server that wants its NONCE gets it.
  void ask(const Endpoint& server, const std::optional<std::string>& username, Handler handler);
  /// A message has come to the port. Called from inside the port's own work.
  void handle(const Endpoint& from, std::span<const std::byte> message);

 private:
  struct Transaction {
    Transaction(boost::asio::io_context& io, const Endpoint& to, Handler told)
        : server(to), handler(std::move(told)), timer(io) {}
    Endpoint server;
    Handler handler;
    net::StunMessage request{};
    std::size_t sent = 0;  // times
    std::size_t nonces = 0;
    boost::asio::steady_timer timer;
  };
  using Transactions = std::map<net::StunTransactionId, std::unique_ptr<Transaction>>;

  void begin(std::unique_ptr<Transaction> transaction);
  void send(Transaction& transaction);
  void finish(Transactions::iterator at, const std::optional<Endpoint>& mapped);

  boost::asio::io_context& io_;
  const Send send_;
  Transactions transactions_;
  core::Lifetime lifetime_;
};

/// A binding at a relay, renewed every 10 s while this lives.
/// Threads: confined, likewise.
class KeptBinding {
 public:
  /// client     outlives this
  /// on_bound   called once, when it is bound for the first time
  KeptBinding(boost::asio::io_context& io, BindingClient& client, const Endpoint& server, std::string username,
              std::function<void()> on_bound);

  /// At once: a NAT may have given this end another address.
  void bind_again() {
    if (!asks_) bind();
  }
  /// Whether nobody has answered for a minute.
  [[nodiscard]] bool is_over() const;

 private:
  void bind();

  BindingClient& client_;
  const Endpoint server_;
  const std::string username_;
  std::function<void()> on_bound_;
  bool asks_ = false;
  std::chrono::steady_clock::time_point bound_at_ = std::chrono::steady_clock::now();  // or made
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meeting
