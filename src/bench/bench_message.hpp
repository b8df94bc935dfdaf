// SPDX-License-Identifier: Apache-2.0
/// The question and the answer of `udtcat bench`, and the lines in which they travel. Docs: docs/spec/bench.md §2.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

namespace udtcat::bench {

inline constexpr std::size_t kMaxBenchLineBytes = 4096;   // spec: docs/spec/bench.md §2
inline constexpr std::chrono::seconds kMaxBenchTime{60};  // spec: docs/spec/bench.md §1: each way

/// Figures of one end since the session was made.
struct BenchCounters {
  std::uint64_t taken_bytes = 0;        ///< by its sink
  std::chrono::microseconds taking{0};  ///< from the first of these to the last
  std::uint64_t packets_sent = 0;       ///< also those sent again
  std::uint64_t packets_lost = 0;
  std::uint64_t packets_resent = 0;
  std::uint64_t packets_late = 0;           ///< of the other end's
  std::chrono::microseconds cpu{0};         ///< of the process
  std::chrono::microseconds event_loop{0};  ///< of the thread that moves packets
  std::chrono::microseconds cipher{0};      ///< of the cipher threads
  std::uint64_t socket_drops = 0;           ///< datagrams for which its sockets had no room
  std::uint64_t packet_bytes = 0;           ///< of IP, of a full packet; 0: unknown
  friend bool operator==(const BenchCounters&, const BenchCounters&) = default;
};

/// Their growth between two moments; of a packet's size the later.
[[nodiscard]] BenchCounters since(const BenchCounters& before, const BenchCounters& now);
/// This end's, but for what its sink took.
[[nodiscard]] BenchCounters bench_counters(const ConnectionStats& stats);
/// How many this process may use.
[[nodiscard]] std::uint64_t usable_cores();

struct BenchRequest {
  std::uint64_t number = 0;
  std::chrono::seconds sends_for{0};  ///< of the listener's stream
  friend bool operator==(const BenchRequest&, const BenchRequest&) = default;
};

struct BenchResponse {
  std::uint64_t number = 0;
  std::uint64_t cores = 0;
  BenchCounters counters;
  friend bool operator==(const BenchResponse&, const BenchResponse&) = default;
};

[[nodiscard]] std::string to_json(const BenchRequest& request);
[[nodiscard]] std::string to_json(const BenchResponse& response);
/// Total: any text gives a value or an error.  errors: Errc::protocol_violated
[[nodiscard]] Result<BenchRequest> parse_bench_request(std::string_view line);
[[nodiscard]] Result<BenchResponse> parse_bench_response(std::string_view line);

}  // namespace udtcat::bench
