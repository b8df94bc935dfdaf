// SPDX-License-Identifier: Apache-2.0
/// Somebody on the path of TCP connections on this machine, who can do to them what a test asks for.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <optional>
#include <thread>

#include "support/descriptor.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::e2e {

/// Threads: internally synchronised; relays on a thread of its own, which ends with the object. What is asked for
/// happens to all connections, also to later ones, within some milliseconds.
class TcpRelay {
 public:
  explicit TcpRelay(std::uint16_t listener_port);
  ~TcpRelay();
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Of each connection the byte at that offset is another. To be called before they begin.
  void flip_bit(Towards towards, std::uint64_t offset) { ways_[index(towards)].flip_at = offset; }
  /// An end of the stream that looks as if the other had said it; what comes behind it vanishes.
  void forge_end(Towards towards) { ways_[index(towards)].forged_end = true; }
  void reset() { resets_ = true; }
  /// All vanishes, both ways.
  void black_hole() { swallows_ = true; }
  /// Nothing is read any more, both ways.
  void pause(bool on) { pauses_ = on; }
  [[nodiscard]] std::uint64_t carried_bytes(Towards towards) const { return ways_[index(towards)].carried_bytes; }
  [[nodiscard]] bool has_flipped() const { return has_flipped_; }

 private:
  /// The treatment of one direction.
  struct Way {
    std::atomic<std::uint64_t> flip_at = UINT64_MAX;
    std::atomic<bool> forged_end = false;
    std::atomic<std::uint64_t> carried_bytes = 0;
  };
  struct Connection {
    Descriptor ends[2];  // by who receives there
    std::uint64_t carried_bytes[2] = {};
    bool over[2] = {};  // nothing is said to it any more
  };
  static std::size_t index(Towards towards) { return static_cast<std::size_t>(towards); }

  void run();
  void accept();
  [[nodiscard]] bool serve(Connection& connection);
  [[nodiscard]] bool carry(Connection& connection, Towards towards);
  void end(Connection& connection, Towards towards);

  const std::uint16_t target_;
  Descriptor listening_;
  std::uint16_t port_ = 0;
  Way ways_[2];
  std::atomic<bool> resets_ = false;
  std::atomic<bool> swallows_ = false;
  std::atomic<bool> pauses_ = false;
  std::atomic<bool> has_flipped_ = false;
  std::atomic<bool> stops_ = false;
  std::list<Connection> connections_;  // the thread's
  std::thread thread_;
};

}  // namespace udtcat::test::e2e
