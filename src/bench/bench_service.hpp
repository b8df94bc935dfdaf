// SPDX-License-Identifier: Apache-2.0
/// The end of a bench that was dialled: it answers questions, takes bytes and sends some. Docs: docs/spec/bench.md.
#pragma once

#include <functional>
#include <list>
#include <memory>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "tool/run/rejected_connections.hpp"

namespace udtcat::bench {

/// One bench at a time, both ways and with few streams, whatever the listener's own sessions do.
[[nodiscard]] FurtherApplication application_beside(const SessionOptions& session);

/// Serves sessions of the application bench, one at a time: the first that asks. Each is bounded in time.
///
///   waiting ── its first question ──► asked ── it closes, 3 minutes ──► gone
///      └── 10 s, or another has asked ──────────────────────────────────►┘
///
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction.
class BenchService {
 public:
  struct Handlers {
    std::function<bool(Connection&)> on_asked{};       ///< this one is going to be served; returns whether it may
    std::function<void(const Status&)> on_over{};      ///< it has ended
    std::function<void(const Connection&)> on_gone{};  ///< one is about to be destroyed
  };

  BenchService(boost::asio::io_context& io, Handlers handlers);
  BenchService(const BenchService&) = delete;
  BenchService& operator=(const BenchService&) = delete;
  ~BenchService();

  void serve(std::unique_ptr<Connection> connection);
  [[nodiscard]] bool idle() const { return clients_.empty(); }
  void abort_all(const Error& why);

 private:
  class BenchClient;

  [[nodiscard]] bool admit(BenchClient& client);
  void on_closed(const BenchClient& client, const Status& status);

  boost::asio::io_context& io_;
  const Handlers handlers_;
  std::list<std::unique_ptr<BenchClient>> clients_;
  tool::RejectedConnections rejected_;
  const BenchClient* asked_ = nullptr;  // one of them, or none
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bench
