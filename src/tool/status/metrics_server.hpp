// SPDX-License-Identifier: Apache-2.0
/// Metrics of this process by HTTP, for Prometheus and its kin.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/status/snapshot_question.hpp"

namespace udtcat::tool {

inline constexpr const char* kMetricsPath = "/metrics";  // spec: Prometheus' own default
inline constexpr std::size_t kMaxMetricsClients = 8;     // guess: twice kMaxStatusClients, as several hosts may ask
inline constexpr std::size_t kMaxRequestHeadBytes = 8 * 1024;        // guess: what common servers take
inline constexpr std::chrono::milliseconds kRequestPatience{1'000};  // guess: a slow path and a lost packet
inline constexpr std::chrono::milliseconds kMetricsPatience{5'000};  // guess: half of Prometheus' own

/// Answers GET and HEAD of kMetricsPath, one request a connection, with to_metrics() of this process. A client has
/// kRequestPatience for its request and kMetricsPatience for the rest; further ones, but for one on its way at each
/// address, wait in the system's backlog.
/// Threads: confined to the io_context thread, which never waits for a client or a disk.
class MetricsServer {
 public:
  /// errors: Errc::cannot_bind
  [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> open(boost::asio::io_context& io,
                                                                   const std::vector<Endpoint>& locals,
                                                                   SnapshotSource snapshot_source);
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  ~MetricsServer();

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const { return ports_.local_endpoints(); }

 private:
  class Exchange;

  MetricsServer(bridge::TcpPorts ports, SnapshotSource snapshot_source);
  void serve(boost::asio::ip::tcp::socket socket);

  const SnapshotSource snapshot_source_;
  bridge::TcpPorts ports_;
  std::set<std::shared_ptr<Exchange>> exchanges_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
