// SPDX-License-Identifier: Apache-2.0
/// The end of a remote command at which it runs. Streams and messages: docs/spec/rsh.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/child_termination.hpp"
#include "rsh/control_channel.hpp"

namespace udtcat::rsh {

/// Serves one connection: the first request of its peer is run, its standard descriptors are bridged, its end is
/// reported.
///
///   awaiting ── request ──► running ── child ended ──► told ── output taken, peer closes ──► over
///       └── cannot be run ───────────────────────────────────────────►┘
///
/// A peer that is lost, or leaves while the child runs, ends the child by signals, until it and its group have gone;
/// its stdin stays open until then.
///
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction.
class FarEnd {
 public:
  /// The peer's first request has come on this connection.  returns  whether it is carried out
  using RequestedHandler = std::function<bool(FarEnd&)>;
  /// The connection has ended and no child is left.
  using OverHandler = std::function<void(FarEnd&, const Status&)>;

  /// core_limit_bytes   what the command may dump
  FarEnd(boost::asio::io_context& io, std::unique_ptr<Connection> connection, std::uint64_t core_limit_bytes,
         RequestedHandler on_requested, OverHandler on_over);
  ~FarEnd();

  [[nodiscard]] Connection& connection() const { return *connection_; }
  [[nodiscard]] bool requested() const { return request_.has_value(); }
  /// Tells the peer that we have to go, and ends the child as for a peer that is lost.
  void abort(const Error& why) { connection_->abort(why); }

 private:
  void on_stream(StreamId id);
  void on_message(const ssh::ControlMessage& message);
  void run_when_complete();
  [[nodiscard]] Status bridge(bridge::ChildPipes pipes);
  void on_input_over(const StreamOutcome& outcome);
  void answer(const ssh::ControlMessage& message);
  void refuse(std::string reason);
  void on_closed(const Status& status);
  void finish_if_over();

  boost::asio::io_context& io_;
  const std::uint64_t core_limit_bytes_;
  RequestedHandler on_requested_;
  OverHandler on_over_;
  ControlChannel control_;
  std::optional<ssh::ControlMessage> request_;
  std::size_t streams_opened_ = 0;  // by the peer, of the four
  bridge::KeptChild child_;
  bool answered_ = false;
  std::optional<Status> closed_;
  const std::unique_ptr<Connection> connection_;  // its handlers and streams lead into what stands above
};

}  // namespace udtcat::rsh
