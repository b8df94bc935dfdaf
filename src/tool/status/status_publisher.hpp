// SPDX-License-Identifier: Apache-2.0
/// The status of a process while it runs, for those who ask: lines of statistics, `udtcat status`, a service manager.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "tool/cli/console.hpp"
#include "tool/cli/options.hpp"
#include "tool/status/metrics_server.hpp"
#include "tool/status/snapshot.hpp"
#include "tool/status/status_socket.hpp"
#include "tool/status/transfer_totals.hpp"

namespace udtcat::tool {

/// Threads: confined to the io_context thread.
class StatusPublisher {
 public:
  /// Adds where the process listens and forwards, its peers, their statistics, and refusals.
  using Source = std::function<void(ProcessSnapshot&)>;

  StatusPublisher(boost::asio::io_context& io, Console& console, const Options& options);
  StatusPublisher(const StatusPublisher&) = delete;
  StatusPublisher& operator=(const StatusPublisher&) = delete;
  ~StatusPublisher();

  /// Serves metrics from now on, where they are asked for, and finds the group that may ask for the status.
  /// errors: Errc::cannot_bind, Errc::cannot_resolve; Errc::bad_argument: there is no such group, or this user is not
  /// in it
  [[nodiscard]] Status open();

  /// Begins with what needs no peer: the pings for a manager's watchdog, and lines of statistics.
  void begin();
  /// The process is in service from the first call on: it can be asked, and its manager is told. `source` is called
  /// until end().
  void publish(Source source);
  /// Carries out `action`, which reads configuration again, and tells the manager before and after.
  void reload(const std::function<void()>& action);
  /// The process is about to stop: the manager is told, once.
  void stopping();
  /// Nothing is published any more.
  void end();

 private:
  [[nodiscard]] ProcessSnapshot snapshot() const;
  void repeat(boost::asio::steady_timer& timer, std::chrono::microseconds interval, std::function<void()> action);
  void open_socket();

  boost::asio::io_context& io_;
  Console& console_;
  const std::string service_;
  const std::string what_;
  const std::optional<std::chrono::milliseconds> stats_interval_;
  const std::optional<HostPort> metrics_at_;
  const std::string status_group_;  // as the user wrote it; empty: none
  std::optional<gid_t> group_;
  TransferTotals transfers_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  Source source_;
  bool is_stopping_ = false;
  Rates line_rates_;
  Rates manager_rates_;
  boost::asio::steady_timer line_timer_;
  boost::asio::steady_timer manager_timer_;
  boost::asio::steady_timer watchdog_timer_;
  std::unique_ptr<StatusSocket> socket_;           // none: there is no place for it
  std::unique_ptr<MetricsServer> metrics_server_;  // none: nobody asked for it
};

}  // namespace udtcat::tool
