// SPDX-License-Identifier: Apache-2.0
/// One bottleneck in virtual time, for the tests of congestion control: a rate, a delay, a drop-tail queue, random
/// loss, and receivers that acknowledge in batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <vector>

#include "lib/transport/native/congestion/congestion_control.hpp"

namespace udtcat::transport::native::test {

struct Path {
  BitRate rate{};
  Duration rtt{0};                  ///< of the empty path; half of it each way
  std::uint64_t buffer_bytes = 0;   ///< of the queue, beyond what is on the wire
  double loss = 0;                  ///< of each packet, at random, after the queue
  std::size_t packet_bytes = 1456;  ///< larger ones stand for whole trains, where single packets would take too long
  Duration ack_interval = std::chrono::milliseconds(10);  ///< an ACK at least so often
  unsigned ack_packets = 64;                              ///< and after so many packets
  Duration ack_jitter{0};                                 ///< up to so much later, at random: a host that is busy
};

/// The record of a packet in flight: draft-ietf-ccwg-bbr, "Per-packet (P) state".
struct SentPacket {
  TimePoint sent{};
  TimePoint first_sent{};
  TimePoint delivered_time{};
  std::uint64_t delivered_bytes = 0;
  std::uint64_t lost_bytes = 0;
  std::uint64_t in_flight_bytes = 0;
  bool app_limited = false;
  bool gone = false;  ///< acknowledged or lost
};

class Bottleneck;

/// A sender, its congestion control, and the receiver's acknowledgements.
class Flow {
 public:
  Flow(Bottleneck& path, std::size_t index, std::unique_ptr<CongestionControl> control, TimePoint start);

  [[nodiscard]] CongestionControl& control() { return *control_; }
  [[nodiscard]] std::uint64_t delivered_bytes() const { return delivered_bytes_; }
  [[nodiscard]] std::uint64_t lost_bytes() const { return lost_bytes_; }
  [[nodiscard]] std::uint64_t in_flight_bytes() const { return in_flight_bytes_; }
  /// No more than so much is there to be sent; by default there is always more.
  void limit_to(std::uint64_t bytes) { unsent_bytes_ = bytes; }

 private:
  friend class Bottleneck;

  void send();
  void send_packet();
  void arrive(std::uint64_t number);
  void flush_ack();
  void on_ack(const std::vector<std::uint64_t>& numbers);
  void on_nak(std::uint64_t first, std::uint64_t end);
  void on_silence();
  [[nodiscard]] SentPacket* packet(std::uint64_t number);
  [[nodiscard]] RateSample sample_of(const SentPacket& newest) const;
  [[nodiscard]] bool window_open() const;
  void arm_timeout();

  Bottleneck& path_;
  const std::size_t index_;
  std::unique_ptr<CongestionControl> control_;

  // The sender.
  std::deque<SentPacket> sent_;
  std::uint64_t first_number_ = 0;
  std::uint64_t next_number_ = 0;
  std::uint64_t in_flight_bytes_ = 0;
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t lost_bytes_ = 0;
  std::uint64_t unsent_bytes_;
  std::uint64_t epoch_end_ = 0;
  std::uint64_t app_limited_until_bytes_ = 0;
  TimePoint delivered_time_;
  TimePoint first_sent_;
  TimePoint next_send_;
  TimePoint last_heard_;
  TimePoint timeout_at_;
  unsigned timeouts_ = 0;
  bool send_armed_ = false;

  // The receiver.
  std::uint64_t expected_ = 0;
  std::vector<std::uint64_t> batch_;
  bool ack_armed_ = false;
};

class Bottleneck {
 public:
  explicit Bottleneck(const Path& path, std::uint32_t seed = 1);

  Flow& add(CongestionKind kind, TimePoint start = {}, BitRate rate = {});
  Flow& add(std::unique_ptr<CongestionControl> control, TimePoint start = {});
  /// Runs until that much virtual time has passed since the beginning.
  void run_until(Duration end);
  /// Nothing gets through any more, in neither direction; or everything does again.
  void cut(bool cut) { cut_ = cut; }
  void change_rate(BitRate rate) { path_.rate = rate; }

  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] const Path& path() const { return path_; }
  [[nodiscard]] std::uint64_t queued_bytes() const;
  [[nodiscard]] std::uint64_t bdp_bytes() const;
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }

 private:
  friend class Flow;
  enum class What { send, arrive, flush, ack, nak, timeout };
  struct Event {
    TimePoint at;
    std::uint64_t order;  // of what happens at the same time
    What what;
    std::uint32_t flow;
    std::uint64_t number;
    std::uint64_t end;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  void schedule(TimePoint at, What what, std::size_t flow, std::uint64_t number = 0, std::uint64_t end = 0);
  void handle(const Event& event);
  void transmit(std::size_t flow, std::uint64_t number);
  void carry_ack(std::size_t flow, std::vector<std::uint64_t> numbers);

  Path path_;
  std::mt19937 random_;
  TimePoint now_{};
  TimePoint free_at_{};  // the wire, once all that is queued has left
  TimePoint last_ack_at_{};
  bool cut_ = false;
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<std::vector<std::uint64_t>> acks_;  // on their way, by the number of their event
  std::vector<std::size_t> free_acks_;
};

/// Delivered between two moments, as a share of what the path could have carried.
[[nodiscard]] double share(const Path& path, std::uint64_t bytes, Duration time);
[[nodiscard]] double jain(double one, double other);

}  // namespace udtcat::transport::native::test
