// SPDX-License-Identifier: Apache-2.0
/// The statistics that this end keeps of a connection, and those that the two ends report to each other. See
/// docs/spec/stream.md §7.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <udtcat/connection.hpp>
#include <udtcat/stats.hpp>

#include "lib/connection/frame.hpp"
#include "lib/connection/mux_stream.hpp"
#include "lib/core/stats_clocks.hpp"
#include "lib/session/session.hpp"

namespace udtcat::connection {

inline constexpr auto kReportInterval = std::chrono::seconds(1);  // spec: stream.md §7

/// Threads: confined to the io_context thread; time is a parameter.
class StatsExchange {
 public:
  /// session   outlives this
  StatsExchange(const session::Session& session, TimePoint now);

  void count_sent(std::size_t bytes) { bytes_sent_ += bytes; }
  void count_received(std::size_t bytes) { bytes_received_ += bytes; }
  /// Of streams: one more, or one less, has no credit; is being written to its consumer.
  void note_starved(bool starved) { starved_streams_ += starved ? 1 : -1; }
  [[nodiscard]] bool starved() const { return starved_streams_ > 0; }
  void note_consuming(TimePoint now, bool consuming) { consuming ? consuming_.begin(now) : consuming_.end(now); }
  /// From now on no block follows the last one for that reason; none: the layer below has enough of them.
  void set_stall_reason(TimePoint now, std::optional<StallReason> why) { stall_clock_.set(now, why); }

  /// The peer's report.
  void on_report(const EndStats& there) { there_before_ = std::exchange(there_, there); }
  /// The report to send now, where the last one is `interval` old and there is something new to tell.
  [[nodiscard]] std::optional<Report> poll(TimePoint now, std::chrono::nanoseconds interval);
  /// The connection is over: from now on nothing changes.
  void end(TimePoint now) { last_here_ = here(now); }

  void add_to(ConnectionStats& stats, TimePoint now) const;

 private:
  [[nodiscard]] EndStats here(TimePoint now) const;

  const session::Session& session_;
  const TimePoint made_at_;
  EndStats at_start_;  // of threads and sockets that were there before
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_received_ = 0;
  core::StallClock stall_clock_;
  std::ptrdiff_t starved_streams_ = 0;
  core::SpanClock consuming_;
  TimePoint reported_at_;
  std::uint64_t reported_bytes_ = 0;      // had moved by then, both ways
  std::optional<EndStats> there_;         // the peer's last report
  std::optional<EndStats> there_before_;  // and the one before
  std::optional<EndStats> last_here_;     // once the connection is over
};

}  // namespace udtcat::connection
