/// The control connection, from either end: bytes come when they come, and silence has a limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread; one hear() and one say() at a time.
class ControlLink {
 public:
  /// Counts what else moves between the two ends: as long as it grows, silence here is none.
  using Moved = std::function<std::uint64_t()>;
  static constexpr std::size_t kMostUnheardBytes = 262'144;  // guess: then the peer waits

  ControlLink(boost::asio::io_context& io, std::shared_ptr<StreamIo> stream, Endpoint local, Endpoint peer);
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  /// What has come, at least a byte.  errors: Errc::connection_broken, Errc::peer_lost after `patience` without a byte
  [[nodiscard]] Task<Result<std::string>> hear(std::chrono::milliseconds patience, Moved moved = {});
  /// errors: Errc::connection_broken, Errc::peer_lost where the peer takes nothing for `patience`
  [[nodiscard]] Task<Status> say(std::string text, std::chrono::milliseconds patience);
  /// Nothing more will be said. Returns when the system has taken all that was.
  [[nodiscard]] Task<void> finish();
  /// Ends it at once; who waits is told.
  void close();

  [[nodiscard]] const Endpoint& local() const { return local_; }
  [[nodiscard]] const Endpoint& peer() const { return peer_; }

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the coroutine that reads
  const Endpoint local_;
  const Endpoint peer_;
};

}  // namespace udtcat::gridftp
