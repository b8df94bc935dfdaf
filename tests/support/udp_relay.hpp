// SPDX-License-Identifier: Apache-2.0
/// A path between two ends on this machine, over IPv4, that does to their packets what a test asks for.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>

#include "support/deadline.hpp"
#include "support/descriptor.hpp"
#include "support/wire.hpp"

namespace udtcat::test {

/// Named by who receives.
enum class Towards : std::uint8_t { listener, connector };

[[nodiscard]] constexpr Towards opposite(Towards towards) {
  return towards == Towards::listener ? Towards::connector : Towards::listener;
}

/// A relay's treatment of one packet.
struct Fate {
  bool drop = false;
  int copies = 1;
  std::chrono::microseconds delay{0};
};

/// Chances, of each packet, drawn from a generator with a seed of its own.
struct Impairment {
  double drop = 0;
  double duplicate = 0;
  double delayed = 0;  ///< the fraction that is held back by `delay`, and so overtaken
  std::chrono::microseconds delay{0};
  std::chrono::microseconds delay_of_all{0};
  std::uint64_t seed = 1;
};

/// A packet that came to the relay. Of large ones the beginning only.
struct Captured {
  Clock::time_point at;
  Towards towards = Towards::listener;
  std::size_t datagram_bytes = 0;
  bool dropped = false;
  Bytes head;
  [[nodiscard]] PacketView view() const { return PacketView(head); }
};

/// Each connector's port has a port of its own towards the listener, as behind a NAT.
/// Threads: internally synchronised; relays on a thread of its own, which ends with the object. Rules are called there.
class UdpRelay {
 public:
  using Rule = std::function<Fate(const PacketView& packet)>;
  using Rewrite = std::function<void(std::span<std::byte> datagram)>;
  using Match = std::function<bool(const Captured& packet)>;

  explicit UdpRelay(std::uint16_t listener_port);
  UdpRelay(const UdpRelay&) = delete;
  UdpRelay& operator=(const UdpRelay&) = delete;
  ~UdpRelay();

  /// Where connectors connect to.
  [[nodiscard]] std::uint16_t port() const { return outside_port_; }

  void impair(Towards towards, const Impairment& impairment);
  /// Asked before the impairment; a packet that it drops is dropped. An empty one ends the rule.
  void rule(Towards towards, Rule rule);
  /// Changes packets as they arrive, before all else.
  void rewrite(Towards towards, Rewrite rewrite);
  /// Loses everything in that direction, from now on or no longer.
  void blackhole(Towards towards, bool on);
  /// Loses everything of a connector's port, both ways, from now on; ports are counted from 0 as they come.
  void cut(std::size_t flow);
  /// The ports that connectors have come from.
  [[nodiscard]] std::size_t flows() const;
  /// The connectors come from other ports from now on, as when a NAT forgets; the old ones are closed.
  void change_source_ports();
  /// Sends to every connector's end in that direction what nobody sent.
  void inject(Towards towards, std::span<const std::byte> datagram);

  /// Keeps what comes; at most the first `head_bytes` of each packet. Forgets what was kept.
  void capture(std::size_t head_bytes = 80);
  [[nodiscard]] std::vector<Captured> captured() const;
  [[nodiscard]] std::vector<Captured> captured(Towards towards,
                                               const std::function<bool(const PacketView&)>& which) const;
  /// Whether a packet that fits has been captured, or is within `limit`.
  [[nodiscard]] bool wait_for(const Match& match, std::chrono::milliseconds limit) const;
  [[nodiscard]] std::size_t dropped(Towards towards) const;
  [[nodiscard]] std::size_t passed(Towards towards) const;
  /// The last packets, for a failure's message.
  [[nodiscard]] std::string last_words(std::size_t packets = 30) const;

 private:
  struct Flow {
    sockaddr_in connector{};
    Descriptor inside;
    bool cut = false;
  };
  struct Side {
    Impairment impairment;
    std::mt19937_64 random{1};
    Rule rule;
    Rewrite rewrite;
    bool blackhole = false;
    std::size_t dropped = 0;
    std::size_t passed = 0;
  };
  struct Delayed {
    Clock::time_point due;
    std::uint64_t order = 0;
    Towards towards = Towards::listener;
    std::size_t flow = 0;
    Bytes datagram;
    [[nodiscard]] bool operator>(const Delayed& other) const {
      return std::pair(due, order) > std::pair(other.due, other.order);
    }
  };

  void relay();
  void take(const Descriptor& socket, std::size_t flow_or_outside);
  void pass(Towards towards, std::size_t flow, std::span<std::byte> datagram);
  [[nodiscard]] Fate fate_of(Side& side, const Flow& flow, const PacketView& packet);
  void send(Towards towards, std::size_t flow, std::span<const std::byte> datagram);
  void send_what_is_due();
  [[nodiscard]] std::size_t flow_of(const sockaddr_in& connector);
  [[nodiscard]] Side& side(Towards towards) { return sides_[static_cast<std::size_t>(towards)]; }
  [[nodiscard]] const Side& side(Towards towards) const { return sides_[static_cast<std::size_t>(towards)]; }

  const std::uint16_t listener_port_;
  Descriptor outside_;  ///< towards the connectors
  std::uint16_t outside_port_ = 0;
  Descriptor stop_ = open_event();
  mutable std::mutex mutex_;
  mutable std::condition_variable seen_;
  std::vector<Flow> flows_;  // guarded by mutex_, as all below
  std::array<Side, 2> sides_;
  std::priority_queue<Delayed, std::vector<Delayed>, std::greater<>> delayed_;
  std::uint64_t next_order_ = 0;
  std::size_t head_bytes_ = 0;
  std::vector<Captured> captured_;
  std::thread thread_;
};

}  // namespace udtcat::test
