// SPDX-License-Identifier: Apache-2.0
/// Two hosts and the path between them, on which everything can happen to a packet.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "fault/dice.hpp"
#include "fault/scenario.hpp"
#include "support/descriptor.hpp"
#include "support/namespaces.hpp"
#include "wan/network_namespace.hpp"
#include "wan/super_packet.hpp"
#include "wan/tun_device.hpp"

namespace udtcat::fault {

/// The path's deeds to packets in one direction. TCP's are only lost, repeated and late: their checksums stand.
struct Trouble {
  bool hole = false;
  std::size_t most_bytes = 65535;  ///< of an IP packet; longer ones vanish
  double drop = 0;                 ///< chances of each packet, as all below
  double repeat = 0;
  double late = 0;    ///< overtaken by those that come within some ten milliseconds
  double flip = 0;    ///< one bit of what UDP carries, with a checksum that is right again
  double splice = 0;  ///< the payload of a UDT data packet, by that of another connection in the same direction
};

/// One thread of its own carries the packets. Threads: internally synchronised, but for the constructor: it enters the
/// namespaces that it makes, and has to be called before there are threads.
class Path {
 public:
  Path();
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path();

  static constexpr auto kNearAddress = "10.77.0.1";
  static constexpr auto kFarAddress = "10.77.0.2";
  /// As processes are started there.
  [[nodiscard]] test::Namespaces::Host host(Side side) const;
  /// A TCP socket that lives there.
  [[nodiscard]] test::Descriptor tcp_socket(Side side) const;

  enum class Counted : std::uint8_t { udp, tcp };
  /// Nothing is under way, nothing is wrong. What chance decides from now on hangs on the seed.
  void heal(std::chrono::milliseconds one_way_delay, std::uint64_t seed, Counted counted);
  /// In the direction in which `from` sends.
  void set(Side from, const Trouble& trouble);
  /// The near host has another address from now on; its old one nobody has.
  void move_near();
  /// How many of the counted packets have come.
  [[nodiscard]] std::uint64_t packets() const;
  /// How much they have carried.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Packet = std::vector<std::byte>;
  using FlowName = std::array<std::byte, 4>;  // both ports
  struct Direction {
    Trouble trouble;
    std::map<FlowName, Packet> last_payloads;
    std::multimap<Clock::time_point, Packet> under_way;
  };

  void carry();
  void take(Side from);
  void pass(Direction& direction, std::span<std::byte> packet);
  /// False for a packet that is lost.
  [[nodiscard]] bool strike(Direction& direction, std::span<std::byte> packet);
  void strike_udp(Direction& direction, std::span<std::byte> packet, std::span<std::byte> udp);
  void splice(Direction& direction, const FlowName& flow, std::span<std::byte> payload);
  void deliver(Side from, Clock::time_point now);
  [[nodiscard]] Direction& direction(Side from) { return directions_[static_cast<std::size_t>(from)]; }
  [[nodiscard]] wan::TunDevice& device(Side side) { return side == Side::near ? *near_device_ : *far_device_; }

  std::optional<wan::NetworkNamespace> near_;
  std::optional<wan::NetworkNamespace> far_;
  std::optional<wan::TunDevice> near_device_;
  std::optional<wan::TunDevice> far_device_;
  bool moved_ = false;
  test::Descriptor stop_ = test::open_event();
  mutable std::mutex mutex_;
  std::array<Direction, 2> directions_;  // guarded by mutex_, as all below
  Dice dice_{0};
  std::chrono::milliseconds one_way_delay_{0};
  Counted counted_ = Counted::udp;
  std::uint64_t packets_ = 0;
  std::uint64_t bytes_ = 0;
  std::thread thread_;
};

}  // namespace udtcat::fault
