// SPDX-License-Identifier: Apache-2.0
/// The default answer: a model of the path, and a rate and a window that follow from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include "lib/transport/native/congestion/bbr_model.hpp"
#include "lib/transport/native/congestion/bbr_probe.hpp"
#include "lib/transport/native/congestion/bbr_probe_rtt.hpp"
#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/congestion/first_flight.hpp"
#include "lib/transport/native/congestion/flow_group.hpp"

namespace udtcat::transport::native {

/// BBRv3.
///
///   startup ──full pipe──► drain ──queue gone──► probe_down ──► probe_cruise ──2 to 3 s──► probe_refill ──► probe_up
///                                                    ▲                                                          │
///                                                    └───────────────────────path full──────────────────────────┘
///   any ──a common moment (ProbeRttSchedule), or the path seems longer──► probe_rtt ──► probe_cruise
///   startup ──no round trip near the minimum for 5 s──► probe_rtt ──► startup
///   any ──timeout──► itself, with the least window ──first ACK──► itself, with the window from before (a probe ends)
///
/// source: draft-ietf-ccwg-bbr. Each deviation is described where it is made.
/// Threads: unsynchronised; time is a parameter.
class Bbr final : public CongestionControl {
 public:
  /// group   with which it is coupled; null: none
  Bbr(std::size_t payload_bytes, TimePoint now, std::uint32_t random_seed, std::uint32_t ack_packets = 0,
      std::shared_ptr<FlowGroup> group = nullptr);

  void on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) override;
  void on_ack(const AckEvent& event) override;
  void on_loss(const LossEvent& event) override;
  void on_timeout(TimePoint now) override;
  void on_packet_size(std::size_t payload_bytes) override;
  void resume(const KnownPath& path) override { known_ = path; }
  [[nodiscard]] std::optional<KnownPath> known_path() const override;

  [[nodiscard]] std::uint64_t window_bytes() const override { return window_bytes_; }
  [[nodiscard]] BitRate path_rate() const override { return full_pipe_ ? model_.max_bandwidth() : BitRate(); }
  [[nodiscard]] BitRate pacing_rate() const override { return pacing_rate_; }

  enum class State { startup, drain, probe_down, probe_cruise, probe_refill, probe_up, probe_rtt };
  [[nodiscard]] State state() const { return state_; }

 private:
  static constexpr double kWindowGain = 2;  // spec: draft-ietf-ccwg-bbr, BBR.DefaultCwndGain
  static constexpr double kRegainGain = 2;  // measured: ADR-0062: with 1.25 a twentieth is slow to grow back

  [[nodiscard]] BbrModel::Phase phase() const;
  [[nodiscard]] bool drained() const;
  [[nodiscard]] bool between_probes() const;
  [[nodiscard]] bool probes() const;
  [[nodiscard]] bool window_limited() const { return window_limited_ || was_window_limited_; }

  void on_round_trip(TimePoint now);
  [[nodiscard]] bool fills_path(const AckEvent& ack) const;
  // The flows beside it, of the same group.
  void tell_group(const AckEvent& ack);
  [[nodiscard]] double share() const { return group_ ? group_->share() : 1; }
  // Startup and drain.
  void check_full_pipe(const AckEvent& ack, bool round_start);
  void check_drained(const AckEvent& ack);

  // The cycle of probes for bandwidth.
  void start_down(TimePoint now);
  void start_cruise() { state_ = State::probe_cruise; }
  void start_refill();
  void start_up(TimePoint now);
  void advance_cycle(const AckEvent& ack, bool round_start);
  void adapt_ceiling(const AckEvent& ack, bool round_start);
  void lower_ceiling(const AckEvent& ack);
  [[nodiscard]] bool probes_early() const;
  [[nodiscard]] bool time_to_probe(TimePoint now) const;
  [[nodiscard]] bool time_to_cruise(std::uint64_t in_flight_bytes) const;
  [[nodiscard]] bool time_to_go_down(TimePoint now);

  [[nodiscard]] bool time_to_probe_rtt(TimePoint now);
  void check_probe_rtt(const AckEvent& ack, bool round_start);
  void leave_probe_rtt(TimePoint now);

  void end_timeout(TimePoint now);

  // Careful Resume (RFC 9959): a known path begins at half of what it carried, until that is shown or refuted.
  void begin_jump(Duration rtt);
  void check_jump(const AckEvent& ack, bool round_start);
  void end_startup();

  // The rate and the window that follow from model and state (bbr_pacing_and_window.cpp).
  [[nodiscard]] BitRate startup_pacing(Duration rtt) const;
  [[nodiscard]] BitRate paced(double gain) const;
  [[nodiscard]] BitRate bandwidth_to_pace() const;
  [[nodiscard]] bool queue_is_ours() const;
  void update_pacing();
  void update_window(const AckEvent& ack);
  [[nodiscard]] double up_gain() const;
  [[nodiscard]] double pacing_gain() const;
  [[nodiscard]] double window_gain() const;
  [[nodiscard]] std::uint64_t send_quantum_bytes() const;
  [[nodiscard]] std::uint64_t in_flight_for(double gain) const;
  [[nodiscard]] std::uint64_t probe_rtt_window() const;
  [[nodiscard]] std::uint64_t window_cap() const;
  [[nodiscard]] bool is_alone_on_slow_line() const;
  [[nodiscard]] std::uint64_t least_window() const;
  [[nodiscard]] std::uint64_t least_flight() const;
  [[nodiscard]] std::uint64_t least_cap() const;

  const std::uint32_t ack_packets_;
  std::size_t payload_bytes_;
  std::minstd_rand random_;
  BbrModel model_;
  BandwidthPlateau plateau_;
  InFlightCeiling ceiling_;
  CompetingFlows competing_;
  ProbeRttSchedule probe_rtt_schedule_;
  FirstFlight first_flight_;
  std::optional<FlowGroup::Member> group_;  // none: it is not coupled

  std::optional<KnownPath> known_;  // to an earlier connection
  BitRate jump_rate_;               // 0: not in a jump
  unsigned jump_rounds_ = 0;
  std::uint64_t delivered_bytes_ = 0;

  State state_ = State::startup;
  bool full_pipe_ = false;         // the startup has ended
  bool probe_echoes_ = false;      // samples of the last probe still come
  bool ceiling_may_fall_ = false;  // once per probe
  bool app_limited_ = false;
  bool idle_restart_ = false;
  bool window_limited_ = false;      // in this round trip
  bool was_window_limited_ = false;  // in the last one
  bool timed_out_ = false;

  TimePoint cycle_start_;
  Duration probe_wait_{0};
  unsigned rounds_since_probe_ = 0;
  struct ProbeRttWait {
    TimePoint until;
    bool round_trip_passed = false;
  };
  TimePoint probe_rtt_end_{};                   // of the last one
  std::optional<ProbeRttWait> probe_rtt_wait_;  // of probe_rtt, from when the flight is small enough

  std::uint64_t window_bytes_;
  std::uint64_t window_before_trial_ = 0;  // of PathLoss
  std::uint64_t saved_window_bytes_ = 0;   // from before a timeout or a probe of the round trip
  BitRate pacing_rate_;
};

}  // namespace udtcat::transport::native
