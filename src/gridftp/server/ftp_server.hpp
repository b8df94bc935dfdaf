// SPDX-License-Identifier: Apache-2.0
/// Serves a directory to GridFTP clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/mode_e/data_stack.hpp"
#include "gridftp/server/served_client.hpp"
#include "gridftp/server/served_root.hpp"
#include "gridftp/server/service.hpp"
#include "lib/bridge/rate_limited_log.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/core/ip_prefix.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/status/peer_totals.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread.
class FtpServer {
 public:
  FtpServer(boost::asio::io_context& io, ServedRoot root, ServeOptions options);

  /// Clients come by TCP.  errors: Errc::cannot_bind
  [[nodiscard]] Status listen(const std::vector<Endpoint>& locals);
  /// Clients come by sessions of ours, and have proved the key; each stream is a control connection.
  /// errors: Errc::cannot_bind
  [[nodiscard]] Status listen_sealed(const std::vector<Endpoint>& locals);
  /// Takes a new client. Where there are too many, a client of the prefix with the most is closed, if that prefix has
  /// more than the newcomer's: the oldest that has not logged in, or the one idle longest without the key. Where the
  /// newcomer's prefix has used its quota, or no such client exists, the oldest of that prefix that has not logged in
  /// is closed, or the newcomer. Each gets a 421.
  void serve(std::unique_ptr<ControlConnection> control, bool has_key);
  /// Accepts no more clients, and closes those that are there.
  void stop();

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const;
  struct ClientStats {
    std::uint64_t number;
    Endpoint address;
    std::string name;  ///< of its key; empty: it has none
    std::chrono::steady_clock::time_point came_at;
    ByteCounts moved;
  };
  [[nodiscard]] std::vector<ClientStats> clients() const;
  [[nodiscard]] ByteCounts moved() const;
  [[nodiscard]] const tool::PeerTotals& totals() const { return totals_; }

 private:
  struct Entry {
    core::Prefix prefix;
    bool has_key;
    Endpoint address;
    std::string name;  // of its key; empty: it has none
    std::chrono::steady_clock::time_point came_at;
    std::unique_ptr<ServedClient> client;
  };
  using Entries = std::map<std::uint64_t, Entry>;
  [[nodiscard]] bool has_room_for(core::Prefix newcomer, const Quota& quota);
  void refuse(std::unique_ptr<ControlConnection> control);
  void forget(Entries::iterator entry);

  boost::asio::io_context& io_;
  const std::shared_ptr<Service> service_;
  const ServeOptions& options_ = service_->options;
  bridge::TcpPorts ports_;
  std::shared_ptr<DataStack> sealed_stack_;
  std::vector<std::unique_ptr<DataListener>> sealed_listeners_;
  bridge::RateLimitedLog error_log_;
  Entries clients_;  // in the order in which they came
  std::uint64_t next_number_ = 0;
  tool::PeerTotals totals_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
