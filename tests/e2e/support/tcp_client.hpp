// SPDX-License-Identifier: Apache-2.0
/// A TCP client that a test steers byte by byte. Every call gives up after a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/descriptor.hpp"
#include "support/digest.hpp"

namespace udtcat::test::e2e {

/// Connects to 127.0.0.1. Threads: unsynchronised.
class TcpClient {
 public:
  /// A connection that is refused is not connected(); the patience bounds every later call.
  TcpClient(std::uint16_t port, std::chrono::milliseconds patience);
  TcpClient(const char* from, std::uint16_t port, std::chrono::milliseconds patience);
  TcpClient(Descriptor connected, std::chrono::milliseconds patience);

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] bool send(std::string_view text) const;
  /// Says that no more will be sent, and goes on receiving.
  void finish_sending() const;
  /// Exactly so many bytes, or as many as came before the end, an error or the patience's end.
  [[nodiscard]] std::string receive(std::size_t bytes) const;
  /// Whether the other side closed or reset the connection; anything that arrives before is skipped.
  [[nodiscard]] bool receive_end() const;
  /// Whether the other side has closed or reset the connection and nothing is left to receive; what arrives is kept.
  [[nodiscard]] bool is_at_end() const;
  /// Whether the other side reset the connection, and did not close it; anything that arrives before is skipped.
  [[nodiscard]] bool receive_reset() const;
  /// As receive(), for what is too long to keep.
  [[nodiscard]] Digest digest_of_next(std::uint64_t bytes) const;

 private:
  void bound_calls(std::chrono::milliseconds patience) const;

  Descriptor socket_;
  bool connected_ = false;
  mutable bool was_reset_ = false;  // seen by receive()
};

/// A port of the test's own on 127.0.0.1, which lets in whom the test wants to let in.
class TcpListener {
 public:
  TcpListener();
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// The next who has connected; none within `limit`.
  [[nodiscard]] std::optional<TcpClient> accept(std::chrono::milliseconds limit) const;

 private:
  Descriptor socket_;
  std::uint16_t port_ = 0;
};

/// Whether something on 127.0.0.1 accepts TCP connections there within `limit`.
[[nodiscard]] bool accepts_tcp(std::uint16_t port, std::chrono::milliseconds limit);

}  // namespace udtcat::test::e2e
