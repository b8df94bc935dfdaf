// SPDX-License-Identifier: Apache-2.0
/// The control connection, from either end, with a timeout for reads and writes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"

namespace udtcat::gridftp {

/// Our address, without a port, that the system would send to `peer` from. Nothing is sent. The wildcard where there is
/// no way to the peer.
[[nodiscard]] Endpoint local_address_towards(const Endpoint& peer);

/// Threads: confined to the io_context thread; one read() and one write() at a time.
class ControlConnection {
 public:
  /// Counts the bytes on the data connections: while it grows, the control connection does not time out.
  using Moved = std::function<std::uint64_t()>;
  static constexpr std::size_t kMaxUnheardBytes = 256 * kKiB;  // guess: then the peer waits

  ControlConnection(boost::asio::io_context& io, std::shared_ptr<StreamIo> stream, Endpoint local, Endpoint peer);
  ~ControlConnection();
  ControlConnection(const ControlConnection&) = delete;
  ControlConnection& operator=(const ControlConnection&) = delete;

  /// The bytes that have come, one at least.  errors: Errc::connection_broken, Errc::peer_lost after `timeout` without
  /// a byte
  [[nodiscard]] Task<Result<std::string>> read(std::chrono::milliseconds timeout, Moved moved = {});
  /// Whether the peer has not closed the connection by now, also where read() has not seen that yet.
  /// errors: Errc::connection_broken, or the reason for which it ended before
  [[nodiscard]] Status look();
  /// errors: Errc::connection_broken, Errc::peer_lost where the peer takes nothing for `timeout`
  [[nodiscard]] Task<Status> write(std::string text, std::chrono::milliseconds timeout);
  /// Nothing more will be said. Returns when the system has taken all that was.
  [[nodiscard]] Task<void> finish();
  void close();

  [[nodiscard]] const Endpoint& local() const { return local_; }
  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  /// The key that the peer has proved; none without a key pair.
  [[nodiscard]] const std::optional<PublicKey>& peer_key() const { return peer_key_; }
  [[nodiscard]] const std::optional<std::string>& peer_name() const { return peer_name_; }

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the coroutine that reads
  const Endpoint local_;
  const Endpoint peer_;
  const std::optional<PublicKey> peer_key_;
  const std::optional<std::string> peer_name_;
};

}  // namespace udtcat::gridftp
