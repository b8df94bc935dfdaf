// SPDX-License-Identifier: Apache-2.0
/// Two connections and the path between them, in virtual time: every run gives the same result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "lib/transport/native/simulated_link.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

class SimulatedPath {
 public:
  enum End { kNear = 0, kFar = 1 };
  /// Sees each datagram before the path does; false: it is lost.
  using Filter = std::function<bool(End sender, std::span<std::byte> datagram)>;

  /// path   of both directions
  /// kind   as which each takes the other
  explicit SimulatedPath(const PathSettings& path = {}, PeerKind kind = PeerKind::own, TransportOptions options = {},
                         std::uint32_t initial_sequence = 1000, std::uint32_t mss = 1500,
                         Duration handshake_rtt = Duration::zero());

  [[nodiscard]] UdtConnection& at(End end) { return *ends_[end].connection; }
  [[nodiscard]] TimePoint now() const { return now_; }
  /// May be changed at any time, as by set_path().
  [[nodiscard]] PathSettings& path(End sender) {
    ends_[sender].link.advance(now_);
    return ends_[sender].link.settings;
  }
  /// Counts for queued packets, too: see SimulatedLink.
  void set_path(const PathSettings& path);
  [[nodiscard]] const SimulatedLink& link(End sender) const { return ends_[sender].link; }
  /// Of trains of at least so many datagrams that leave as one only the first `survivors` datagrams get through.
  void lose_trains(std::size_t least_datagrams, std::size_t survivors = 0) {
    lost_trains_from_ = least_datagrams;
    survivors_ = survivors;
  }
  /// The ends' timers fire at multiples of it, as on a busy host; zero: when they are due.
  void set_tick(Duration tick) { tick_ = tick; }
  void set_outage(bool on) { outage_ = on; }
  void set_filter(Filter filter) { filter_ = std::move(filter); }
  /// From now on the near end's datagrams come from another port, or another host.
  void move_near(const Endpoint& address) { ends_[kNear].address = address; }
  /// Datagrams of the near end to `near_relay` come to the far end from `far_relay`, and back.
  void add_relay(const Endpoint& near_relay, const Endpoint& far_relay) { relay_ = {near_relay, far_relay}; }
  /// Only the relay carries datagrams.
  void cut_direct(bool cut) { direct_cut_ = {cut, cut}; }
  void cut_direct_from(End sender, bool cut) { direct_cut_[sender] = cut; }
  /// The end reads nothing.
  void stop_reading(End end, bool stop) { ends_[end].stopped = stop; }

  /// Writes a pattern that depends on the offset in the stream.
  void write(End end, std::uint64_t bytes);
  /// The end has endless data to write.
  void write_on(End end) { ends_[end].endless = true; }
  [[nodiscard]] std::uint64_t read_bytes(End end) const { return ends_[end].read; }
  /// Whether all bytes read so far are those written.
  [[nodiscard]] bool intact() const { return intact_; }
  /// Datagrams that an end has sent so far.
  [[nodiscard]] std::uint64_t datagrams(End end) const { return ends_[end].datagrams; }

  /// Lets time pass until `done`; false if that took longer than `limit`.
  bool run_until(const std::function<bool()>& done, Duration limit);
  void run_for(Duration time) {
    run_until([] { return false; }, time);
  }
  /// Lets time pass.  returns   the rate at which `reader` has read, in bits per second
  [[nodiscard]] double rate_over(End reader, Duration time);

 private:
  struct Side {
    std::optional<UdtConnection> connection;
    SimulatedLink link;  // of what it sends
    Endpoint address;
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    std::uint64_t datagrams = 0;
    bool endless = false;
    bool stopped = false;
  };

  void settle(End end);
  void carry(End sender, const Endpoint& to, std::vector<std::byte> datagram);
  void read_all(End end);
  void deliver();
  /// When the end's timer fires.
  [[nodiscard]] std::optional<TimePoint> alarm(End end) const;

  core::ChunkPool chunks_{65'536};
  TimePoint now_{std::chrono::hours(1)};
  std::array<Side, 2> ends_;
  Duration tick_{0};
  bool outage_ = false;
  std::optional<std::array<Endpoint, 2>> relay_;  // its address at each end
  std::array<bool, 2> direct_cut_{};
  std::size_t lost_trains_from_ = SIZE_MAX;
  std::size_t survivors_ = 0;
  bool intact_ = true;
  std::vector<std::byte> read_memory_;
  std::vector<std::vector<std::byte>> spare_;  // memory of datagrams
  Filter filter_;
  std::mt19937 random_{42};
  TrainBuilder builder_{64, 65'000};
};

}  // namespace udtcat::transport::native
