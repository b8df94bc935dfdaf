// SPDX-License-Identifier: Apache-2.0
/// The events of one run, all of them drawn from one number.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace udtcat::fault {

enum class Product : std::uint8_t { pipe, exec, forward, rsh, get, put, send, receive, bench };
enum class Level : std::uint8_t { kPrivate, kSafe, kAuth, kClear };
enum class Side : std::uint8_t { near, far };  ///< who connects, who listens

enum class Fault : std::uint8_t {
  none,
  kill,
  restart,  ///< killed, and started again at once
  stop,     ///< for ever, as far as the other end can tell
  pause,
  hang_up,
  interrupt,
  terminate,
  full_disk,
  black_hole,  ///< both ways
  one_way_hole,
  brief_hole,
  small_packets,  ///< the path's MTU shrinks
  new_address,
  drop,
  repeat,
  reorder,
  flip,
  splice,  ///< payloads of two sessions change places
};

inline constexpr std::array kProducts{Product::pipe, Product::exec, Product::forward, Product::rsh,  Product::get,
                                      Product::put,  Product::send, Product::receive, Product::bench};
inline constexpr std::array kFaults{Fault::none,          Fault::kill,        Fault::restart,      Fault::stop,
                                    Fault::pause,         Fault::hang_up,     Fault::interrupt,    Fault::terminate,
                                    Fault::full_disk,     Fault::black_hole,  Fault::one_way_hole, Fault::brief_hole,
                                    Fault::small_packets, Fault::new_address, Fault::drop,         Fault::repeat,
                                    Fault::reorder,       Fault::flip,        Fault::splice};

[[nodiscard]] std::string_view name_of(Product product);
[[nodiscard]] std::string_view name_of(Fault fault);
/// As --protect takes it.
[[nodiscard]] std::string_view name_of(Level level);

/// When the fault strikes: as soon as all of it is so.
struct Moment {
  std::chrono::milliseconds after{0};  ///< the start
  std::uint64_t packets = 0;           ///< that the path has carried
  double share = 0;                    ///< of the bytes, come out
};

struct Scenario {
  std::uint64_t seed = 0;
  Product product = Product::pipe;
  Level level = Level::kPrivate;
  Fault fault = Fault::none;
  Side victim = Side::near;
  Moment moment = {};
  std::chrono::milliseconds lasts{0};  ///< a pause, a brief hole, what a path does to packets
  double chance = 0;                   ///< of each packet to be struck
  std::uint64_t bytes_out = 0;         ///< from the near end to the far one
  std::uint64_t bytes_back = 0;
  std::uint64_t rate_bits_per_second = 0;  ///< 0: as it comes
  std::chrono::milliseconds one_way_delay{0};
  unsigned flows = 1;
  bool key_pairs = false;      ///< else a shared key
  bool by_tcp = false;         ///< else native, over UDP
  bool via_place = false;      ///< a udtcat meet at the far host, through which both ends find each other
  bool reverse = false;        ///< with `forward`: the service is at the near host
  bool command_sends = false;  ///< with `exec`: what is sent comes from a command, too
  bool command_fails = false;  ///< the same: the sending one, or else the receiving one, after everything
};

[[nodiscard]] Scenario draw(std::uint64_t seed);
/// One line.
[[nodiscard]] std::string describe(const Scenario& scenario);

}  // namespace udtcat::fault
