// SPDX-License-Identifier: Apache-2.0
/// Streams as coroutines see them: exact reads and whole writes, and how a TCP connection is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/key_pair.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "gridftp/coroutine/task.hpp"

namespace udtcat::gridftp {

/// The peer of a session.
struct SessionPeer {
  std::uint8_t application_data = 0;  ///< its SessionOptions::application_data
  std::optional<PublicKey> key;       ///< that it has proved; none without key pairs
  Endpoint address{};                 ///< where it answered
  std::optional<std::string> name{};  ///< of that key
};

/// Threads: confined to the io_context thread. One read and one write at a time; both may be under way.
class StreamIo {
 public:
  /// keep_alive   lives as long as the stream: the connection that carries it
  /// peer         none: there is no session
  explicit StreamIo(std::unique_ptr<LocalStream> stream, std::shared_ptr<void> keep_alive = {},
                    const std::optional<SessionPeer>& peer = {})
      : keep_alive_(std::move(keep_alive)), stream_(std::move(stream)), peer_(peer) {}

  /// Fills `into` as far as bytes come before the end.  returns  how many: less than asked for means the end.
  /// errors: Errc::connection_broken
  [[nodiscard]] Task<Result<std::size_t>> read(std::span<std::byte> into);
  /// Bytes that are there already, without waiting, so that one buffer may serve many streams.
  /// none: no byte yet; 0: the end
  [[nodiscard]] Result<std::optional<std::size_t>> take(std::span<std::byte> into);
  [[nodiscard]] Task<void> wait_readable();
  /// errors: Errc::connection_broken
  [[nodiscard]] Task<Status> write(std::span<const std::byte> from);
  /// No more will be written; returns when the system has taken it all.  errors: Errc::connection_broken
  [[nodiscard]] Task<Status> finish();
  void abort() {
    stream_->abort();
    slot_.reset();  // now: a coroutine that waits for a disk may hold the stream for long
  }
  /// slot   is kept until the stream's end or abort().  moved   counts the bytes that move from now on, either way
  void attach(std::shared_ptr<void> slot, std::shared_ptr<std::uint64_t> moved) {
    slot_ = std::move(slot);
    moved_bytes_ = std::move(moved);
  }
  [[nodiscard]] std::string name() const { return stream_->source_name(); }
  [[nodiscard]] bool in_session() const { return peer_.has_value(); }
  /// 0 without a session.
  [[nodiscard]] std::uint8_t peer_application_data() const { return peer_ ? peer_->application_data : 0; }
  [[nodiscard]] const Endpoint& peer_address() const { return peer_->address; }
  [[nodiscard]] std::optional<std::string> peer_name() const { return peer_ ? peer_->name : std::nullopt; }
  [[nodiscard]] std::optional<PublicKey> peer_key() const { return peer_ ? peer_->key : std::nullopt; }

 private:
  void count(std::size_t bytes) {
    if (moved_bytes_) *moved_bytes_ += bytes;
  }

  std::shared_ptr<void> slot_;
  std::shared_ptr<std::uint64_t> moved_bytes_;
  const std::shared_ptr<void> keep_alive_;
  const std::unique_ptr<LocalStream> stream_;
  const std::optional<SessionPeer> peer_;
};

/// The addresses of a host; the resolver holds up no other work.
/// errors: Errc::cannot_resolve, also where it does not answer within `timeout`
[[nodiscard]] Task<Result<std::vector<Endpoint>>> look_up(boost::asio::io_context& io, HostPort host,
                                                          std::chrono::milliseconds timeout);
/// A connection to the first of `addresses` that answers: they race.
/// doing   for messages.  errors: Errc::cannot_reach, also where none answers within `timeout`
[[nodiscard]] Task<Result<boost::asio::ip::tcp::socket>> connect_tcp(boost::asio::io_context& io,
                                                                     std::vector<Endpoint> addresses,
                                                                     std::chrono::milliseconds timeout,
                                                                     std::string doing);

}  // namespace udtcat::gridftp
