// SPDX-License-Identifier: Apache-2.0
/// How many flows a session is to have, where the user leaves it open (ADR-0075).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace udtcat::connection {

/// Begins with the least. Where the path seems to have a limit for a flow, it tries several, and keeps them if they
/// bring more.
/// Threads: unsynchronised; time is a parameter.
class FlowGrowth {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kLookEvery{100};
  static constexpr std::size_t kFactor = 4;  // measured: bench/flows: two give less than a trial can tell
  static constexpr std::chrono::milliseconds kPoliced{
      750};                                                 // measured: bench/flows: a beginning looks policed for less
  static constexpr std::chrono::milliseconds kTrial{1000};  // guess: ten round trips of 100 ms
  static constexpr std::chrono::milliseconds kSpan{500};    // guess: over which a rate is measured
  static constexpr std::chrono::seconds kFirstRest{20};     // guess: then doubled
  static constexpr double kLeastGain = 0.3;                 // guess: more than rates differ by themselves

  explicit FlowGrowth(std::size_t most, std::size_t least = 1) : most_(most), wanted_(least) {}

  struct Sample {
    std::uint64_t bytes = 0;  ///< that have moved, since any moment
    bool policed = false;     ///< the path seems to have a limit for what has moved lately
    std::size_t flows = 1;    ///< that are there
  };
  /// returns   how many there are to be
  [[nodiscard]] std::size_t look(TimePoint now, const Sample& sample);

 private:
  /// With more flows.
  struct Probe {
    std::size_t flows_before;
    double bytes_per_second_before;
    std::optional<TimePoint> complete_at;
    TimePoint began;
  };
  [[nodiscard]] double bytes_per_second() const;

  const std::size_t most_;
  std::size_t wanted_;
  std::deque<std::pair<TimePoint, std::uint64_t>> samples_;  // of the last kSpan
  std::optional<TimePoint> policed_since_;
  std::optional<Probe> trial_;
  std::chrono::seconds rest_ = kFirstRest;
  TimePoint rests_until_{};
};

}  // namespace udtcat::connection
