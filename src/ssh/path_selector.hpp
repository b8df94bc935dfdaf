// SPDX-License-Identifier: Apache-2.0
/// Whether a session goes by UDP or through ssh.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <udtcat/units.hpp>

namespace udtcat::ssh {

/// Called with samples a few times a second; decides when the session tries the other path.
///
///   on UDP ── the peer is silent ──► to ssh ── kReturnAfter, kReturns times ──► to UDP, where that answers
///     └── slow for two seconds, as it seems by the path's doing and not by chance ──► to ssh
///             ── no faster there within kTrial ──► to UDP, where that is judged anew after kReturnAfter, once
///   on ssh ── the peer is silent for kSilence ──► to UDP, where that answers
///             and, if ssh was not found to be slower, is judged anew at once, kReturns times
///
/// Threads: unsynchronised; time is a parameter.
class PathSelector {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  static constexpr std::chrono::seconds kHalfWindow{1};    // spec: stream.md §7: a peer reports once a second
  static constexpr std::chrono::seconds kTrial{3};         // guess: ssh's TCP has found its rate on any path
  static constexpr std::chrono::seconds kTimeout{10};      // spec: as long as Connection::try_path() asks
  static constexpr std::chrono::seconds kReturnAfter{30};  // guess: an outage of UDP alone is over, or lasts
  /// Silence of the path before is not that of ssh.
  static constexpr std::chrono::milliseconds kSilence{2500};  // spec: stream.md §5
  static constexpr int kReturns = 2;                          // guess: a path that dies a third time is none
  static constexpr BitRate kSlow = BitRate::from_bits_per_second(100'000'000);  // guess: what ssh might exceed
  /// Also without a loss: a limit that was found is kept to.
  static constexpr BitRate kVerySlow = BitRate::from_bits_per_second(10'000'000);  // guess: 3 s of it are little
  static constexpr std::uint64_t kEnoughPackets = 50;                              // guess: of fewer one lost is chance
  static constexpr double kFewPackets = 10;      // guess: an idle session sends fewer between two reports
  static constexpr double kManyLate = 20;        // guess: of fewer some were sent twice
  static constexpr double kPacketBytes = 1'400;  // guess: of payload
  static constexpr double kRepaired = 0.2;       // guess: of what arrives; chance takes less
  static constexpr double kLossy = 0.02;         // guess: more than any link loses by itself

  enum class Decision { none, to_ssh, to_udp };
  /// Sums of both ends since the session began, and its present state.
  struct Sample {
    TimePoint at;
    bool on_ssh = false;
    bool answers = true;
    std::chrono::microseconds reported{0};  ///< EndStats::elapsed of the last report that came
    std::uint64_t bytes_arrived = 0;        ///< ConnectionStats::bytes_arrived
    std::uint64_t bytes_carried = 0;        ///< ConnectionStats::bytes_carried
    std::uint64_t packets_sent = 0;
    std::uint64_t packets_lost = 0;
    std::uint64_t packets_late = 0;             ///< of the peer's
    std::chrono::microseconds held_by_path{0};  ///< of the time in which an end had something to send
    bool loses_by_chance = false;               ///< at any rate, so that TCP is slower
  };

  [[nodiscard]] Decision next(const Sample& sample);
  /// The rate over UDP that was found too low; none: ssh was tried because of silence.
  [[nodiscard]] std::optional<BitRate> slow_rate() const { return slow_rate_; }
  /// Whether slow_rate() is set and ssh was faster, as of the last sample.
  [[nodiscard]] bool ssh_is_faster() const;

 private:
  void on_path_change(const Sample& sample);
  [[nodiscard]] Decision on_udp(const Sample& sample);
  [[nodiscard]] Decision on_ssh(const Sample& sample);
  void measure_ssh(const Sample& sample);
  [[nodiscard]] bool reconsider(const Sample& sample);
  void begin_window(const Sample& sample);
  [[nodiscard]] static bool is_slow(const Sample& before, const Sample& sample);
  /// Once in kTimeout.
  [[nodiscard]] Decision ask(const Sample& sample, Decision decision);

  std::optional<Sample> path_began_;         // the first on the present path
  std::optional<Sample> window_began_;       // on UDP
  std::optional<Sample> half_window_began_;  // its second half; the second that is measured on ssh
  Sample last_{};
  std::optional<BitRate> slow_rate_;
  BitRate best_on_ssh_{};
  bool compares_ = false;              // on ssh because UDP is slow, and not decided
  std::optional<TimePoint> asked_at_;  // for the other way
  int returns_ = 0;
  int silences_ = 0;  // of ssh, while UDP counted as slower
};

}  // namespace udtcat::ssh
