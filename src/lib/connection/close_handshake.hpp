// SPDX-License-Identifier: Apache-2.0
/// The end of a connection: each end says CLOSE and waits for the other's. See docs/spec/stream.md §2.
#pragma once

#include <chrono>
#include <optional>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/connection/frame.hpp"
#include "lib/connection/mux_stream.hpp"

namespace udtcat::connection {

/// How long a peer that is alive may take to answer CLOSE. A dead one is noticed by its silence.
inline constexpr auto kCloseWait = std::chrono::seconds(60);     // guess: an outage of half a minute and then some
inline constexpr auto kBreakOffDrain = std::chrono::seconds(2);  // guess: a dozen round trips of a bad path

///   open ──close() or their CLOSE──► closing ──both CLOSEs, or their silence──► over
///   open, closing ──break_off()──► breaking ──our CLOSE is out, or cannot be──► over
///   open, closing ──an error that the peer cannot be told──► over
///
/// Nothing follows a CLOSE in either direction.
/// Threads: unsynchronised; time is a parameter.
class CloseHandshake {
 public:
  [[nodiscard]] bool is_open() const { return state_ == State::open; }
  [[nodiscard]] bool is_closing() const { return state_ == State::closing; }
  [[nodiscard]] bool is_breaking() const { return state_ == State::breaking; }
  [[nodiscard]] bool is_over() const { return state_ == State::over; }
  /// Whether the streams have come to their end, with an error or well: what still comes from the peer is of no use.
  [[nodiscard]] bool has_ended() const { return is_breaking() || is_over(); }

  void close() { state_ = State::closing; }
  void break_off(Error error);
  void end() { state_ = State::over; }
  /// The outcome of a connection that ends now.
  [[nodiscard]] Status outcome() const { return is_breaking() ? Status(tl::unexpected(*error_)) : Status(); }

  /// Our CLOSE, which is to be sent now. The wait for its end begins.
  [[nodiscard]] Close begin(TimePoint now);
  /// When the wait ends; none: it has not begun.
  [[nodiscard]] std::optional<TimePoint> deadline() const { return deadline_; }
  void on_sent() { exchange_ = received() ? Exchange::both : Exchange::sent; }
  void on_received() { exchange_ = sent() ? Exchange::both : Exchange::received; }
  [[nodiscard]] bool sent() const { return exchange_ == Exchange::sent || exchange_ == Exchange::both; }
  [[nodiscard]] bool received() const { return exchange_ == Exchange::received || exchange_ == Exchange::both; }

 private:
  enum class State { open, closing, breaking, over };
  ///   none ──ours is composed──► sent ──theirs arrives──► both
  ///   none ──theirs arrives──► received ──ours is composed──► both
  enum class Exchange { none, sent, received, both };

  State state_ = State::open;
  Exchange exchange_ = Exchange::none;
  std::optional<TimePoint> deadline_;
  std::optional<Error> error_;  // from State::breaking on
};

/// The peer's CLOSE as an error, for streams that are open when it comes.
[[nodiscard]] Error error_of(const Close& close, const Endpoint& peer);

}  // namespace udtcat::connection
