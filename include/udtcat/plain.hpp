// SPDX-License-Identifier: Apache-2.0
/// Bare bytes over UDT4, for talking to programs that know nothing of udtcat. Nothing is protected and nothing is
/// proved: any host can be the peer, and its end may not be the end of its data.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

namespace udtcat {

/// One UDT connection. UDT cannot end one direction alone: a close ends both. So this end closes
///   - when its source has ended, something was sent, and the peer's transport has acknowledged all of it;
///   - when its source has ended, nothing was sent, and it does not receive;
///   - when the peer has closed.
/// A source that is empty from the start does not close: it waits for the peer.
///
/// Threads: confined to its io_context thread. Handlers are called there and never from inside the call that took them.
class PlainPipe {
 public:
  /// `error`: none when everything sent was acknowledged by the peer's transport and the peer closed in order, or we
  /// did; bytes_receipted is always 0, there are no receipts.
  using DoneHandler = std::function<void(StreamOutcome)>;
  virtual ~PlainPipe() = default;

  /// Bytes flow from now on; once. receives: false drops what comes. `done` is called exactly once.
  virtual void bridge(std::unique_ptr<LocalStream> local, bool receives, DoneHandler done) = 0;
  /// Closes at once, which to the peer looks like any end. `done` reports `reason`.
  virtual void abort(const Error& reason) = 0;

  [[nodiscard]] virtual ConnectionStats stats() = 0;
  [[nodiscard]] virtual Endpoint peer() const = 0;
};

/// As dial(), to any UDT4 program. The request's key and session are not used.
/// errors (to the handler): Errc::cannot_reach, as for dial()
[[nodiscard]] std::unique_ptr<Dialer> dial_plain(boost::asio::io_context& io, DialRequest request,
                                                 std::function<void(Result<std::unique_ptr<PlainPipe>>)> handler);

/// As listen(), for any UDT4 program: every peer is let in. The request's key and session are not used.
/// errors: Errc::cannot_bind, Errc::out_of_resources
[[nodiscard]] Result<std::unique_ptr<Listener>> listen_plain(boost::asio::io_context& io, ListenRequest request,
                                                             std::function<void(std::unique_ptr<PlainPipe>)> on_pipe);

}  // namespace udtcat
