// SPDX-License-Identifier: Apache-2.0
/// The question and the answer of `udtcat bench`, and the lines in which they travel. Docs: docs/spec/bench.md §2.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>

namespace udtcat::bench {

inline constexpr std::size_t kMaxBenchLineBytes = 4096;   // spec: docs/spec/bench.md §2
inline constexpr std::chrono::seconds kMaxBenchTime{60};  // spec: docs/spec/bench.md §1: each way

/// Statistics of one end since the session was made. A new one is its member here, and its row in bench_message.cpp.
struct BenchCounters : TransportStats {
  std::uint64_t taken_bytes = 0;            ///< by its sink
  std::chrono::microseconds taking{0};      ///< from the first of these to the last
  std::chrono::microseconds cpu{0};         ///< of the process
  std::chrono::microseconds event_loop{0};  ///< of the thread that moves packets
  std::chrono::microseconds cipher{0};      ///< of the cipher threads
  std::uint64_t socket_drops = 0;           ///< datagrams for which its sockets had no room
  std::uint64_t packet_bytes = 0;           ///< of IP, of a full packet; 0: unknown
};

/// Their growth between two moments; of a gauge the later.
[[nodiscard]] BenchCounters since(const BenchCounters& before, const BenchCounters& now);
/// This end's, but for what its sink took.
[[nodiscard]] BenchCounters bench_counters(const ConnectionStats& stats);

struct BenchRequest {
  std::uint64_t number = 0;
  std::chrono::seconds sends_for{0};  ///< of the listener's stream
  friend bool operator==(const BenchRequest&, const BenchRequest&) = default;
};

struct BenchResponse {
  std::uint64_t number = 0;
  std::uint64_t cores = 0;
  BenchCounters counters;
};

[[nodiscard]] std::string to_json(const BenchRequest& request);
[[nodiscard]] std::string to_json(const BenchResponse& response);
/// Total: any text gives a value or an error.  errors: Errc::protocol_violated
[[nodiscard]] Result<BenchRequest> parse_bench_request(std::string_view line);
[[nodiscard]] Result<BenchResponse> parse_bench_response(std::string_view line);

}  // namespace udtcat::bench
