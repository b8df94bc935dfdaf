// SPDX-License-Identifier: Apache-2.0
/// Metrics of this process by HTTP, for Prometheus and its kin.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/status/snapshot_question.hpp"

namespace udtcat::tool {

inline constexpr const char* kMetricsPath = "/metrics";    // spec: Prometheus' own default
inline constexpr std::size_t kMaxMetricsConnections = 64;  // guess: eight times as many as are answered at a time
inline constexpr std::size_t kMaxMetricsAnswers = 8;       // guess: of megabytes each, where there are a thousand peers
inline constexpr std::size_t kMaxRequestHeadBytes = 8 * 1024;        // guess: what common servers take
inline constexpr std::chrono::milliseconds kRequestPatience{1'000};  // guess: a slow path and a lost packet
inline constexpr std::chrono::milliseconds kMetricsPatience{5'000};  // guess: half of Prometheus' own

/// Answers GET and HEAD of kMetricsPath, one request a connection, with to_metrics() of this process. A client has
/// kRequestPatience for its request and kMetricsPatience for the rest. kMaxMetricsAnswers are under way at a time. Of
/// more than kMaxMetricsConnections the oldest that asks nothing makes way: those that are mute keep nobody out.
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
  void make_way();
  void on_change(const std::shared_ptr<Exchange>& changed);

  const SnapshotSource snapshot_source_;
  bridge::TcpPorts ports_;
  std::list<std::shared_ptr<Exchange>> exchanges_;  // the oldest first
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
