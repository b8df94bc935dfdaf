// SPDX-License-Identifier: Apache-2.0
/// Debian's libudt as everybody else uses it: blocking calls, its own options, nothing of ours in between.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "interop/pattern.hpp"
#include "interop/transfer.hpp"
#include "support/addresses.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::interop {

/// libudt runs as long as one of these exists.
class RawRuntime {
 public:
  RawRuntime();
  RawRuntime(const RawRuntime&) = delete;
  RawRuntime& operator=(const RawRuntime&) = delete;
  ~RawRuntime();
};

struct RawOptions {
  std::optional<int> mss{};                     ///< libudt's default: 1500
  std::optional<int> receive_buffer_packets{};  ///< its default: 8192; at least 32
  std::optional<int> send_buffer_packets{};     ///< its default: 8192
  int udp_buffer_bytes = 4 << 20;               ///< as far as the system allows
  std::uint16_t local_port = 0;                 ///< a connector's; one port may carry many
  bool blocking_connect = true;
};

/// A connected socket. Jobs have threads of their own; destroying it closes it at once and joins them.
/// Threads: confined, but for the jobs.
class RawSocket {
 public:
  /// Nothing within libudt's 3 s: no socket, and why() says what libudt said.
  [[nodiscard]] static std::unique_ptr<RawSocket> connect(const Endpoint& peer, const RawOptions& options = {});
  [[nodiscard]] static const std::string& why();

  explicit RawSocket(int id) : id_(id) {}
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket();

  /// Everything, in one send() a piece. Empty: done; else libudt's words.
  [[nodiscard]] std::string send(std::span<const std::byte> bytes, std::size_t piece_bytes = 1 << 20);
  /// At least one byte, at most `into`. 0: libudt had none, see why().
  [[nodiscard]] std::size_t receive(std::span<std::byte> into);
  /// Exactly `into`. Empty: done.
  [[nodiscard]] std::string receive_all(std::span<std::byte> into);

  Job start_sending(const Pattern& pattern, std::uint64_t bytes, std::size_t piece_bytes = 1 << 20);
  Job start_receiving(const Pattern& pattern, std::uint64_t bytes);
  /// Until the peer closes; `ended` then.
  Job start_receiving_to_the_end(const Pattern& pattern);

  /// Waits so long for what was sent to be acknowledged. Jobs end.
  void close(std::chrono::seconds linger = std::chrono::seconds(0));
  /// UDTSTATUS; 5 is connected.
  [[nodiscard]] int state() const;
  [[nodiscard]] bool connected() const;
  /// Waits until libudt does not call it connected any more: how long, or nothing.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_until_broken(std::chrono::milliseconds limit) const;
  [[nodiscard]] bool wait_until_connected(std::chrono::milliseconds limit) const;
  [[nodiscard]] std::uint16_t local_port() const;
  [[nodiscard]] int id() const { return id_; }
  /// libudt's counters, for a failure's message.
  [[nodiscard]] std::string counters() const;

 private:
  Job receiving(const Pattern& pattern, std::optional<std::uint64_t> bytes);

  const int id_;
  std::atomic<bool> closing_{false};
  std::vector<std::thread> threads_;
};

/// Threads: confined.
class RawListener {
 public:
  explicit RawListener(const RawOptions& options = {}, AddressFamily family = AddressFamily::ipv4, int backlog = 256);
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;
  ~RawListener();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// The next connection, or none within `limit`; after that the listener is closed.
  [[nodiscard]] std::unique_ptr<RawSocket> accept(std::chrono::milliseconds limit);

 private:
  int id_;
  std::uint16_t port_ = 0;
};

}  // namespace udtcat::test::interop
