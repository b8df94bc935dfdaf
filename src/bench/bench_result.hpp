// SPDX-License-Identifier: Apache-2.0
/// The result of `udtcat bench`, as text and as JSON. No input or output here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/candidate.hpp>
#include <udtcat/options.hpp>
#include <udtcat/units.hpp>

#include "bench/bench_message.hpp"
#include "tool/status/why_text.hpp"

namespace udtcat::bench {

enum class BenchDirection : std::uint8_t {
  out,   ///< from this end to the other
  back,  ///< from the other to this one
};

/// Round trips, of which the median and the least are told.
struct RoundTrips {
  std::vector<std::chrono::microseconds> all{};

  [[nodiscard]] std::optional<std::chrono::microseconds> median() const;
  [[nodiscard]] std::optional<std::chrono::microseconds> least() const;
};

/// One way, while it was loaded.
struct DirectionResult {
  BenchDirection direction = BenchDirection::out;
  BenchCounters here;  ///< what was added to each end's
  BenchCounters there;
  std::chrono::microseconds elapsed{0};
  RoundTrips loaded;
  tool::DiagnosisText limited_by;

  [[nodiscard]] const BenchCounters& sender() const { return direction == BenchDirection::out ? here : there; }
  [[nodiscard]] const BenchCounters& receiver() const { return direction == BenchDirection::out ? there : here; }
  /// The rate at the consumer, from its first byte to its last; zero where it had too few.
  [[nodiscard]] BitRate rate() const;
  /// Share of the sender's packets; none: it sent none.
  [[nodiscard]] std::optional<double> lost() const;
  [[nodiscard]] std::optional<double> late() const;
  /// Of the time of one core.
  [[nodiscard]] double share(std::chrono::microseconds processor_time) const;
};

struct BenchResult {
  std::string peer;
  Protection protection = Protection::private_;
  std::optional<Cipher> cipher{};
  TransportKind transport = TransportKind::native;
  std::size_t flows = 1;
  std::uint64_t cores_here = 0;
  std::uint64_t cores_there = 0;                 ///< 0: it has not said
  std::optional<CandidatePair> selected_pair{};  ///< at the end
  RoundTrips idle_rtts;
  std::vector<DirectionResult> directions{};  ///< those that were measured, one each
};

/// The diagnosis on a bench. Its source is never slow: time without data is charged to a late thread.
[[nodiscard]] tool::DiagnosisText why_of_bench(BothEndsStats ends);

[[nodiscard]] std::string to_text(const BenchResult& result);
/// One line, an object. Docs: udtcat-bench(1), "JSON".
[[nodiscard]] std::string to_json(const BenchResult& result);

}  // namespace udtcat::bench
