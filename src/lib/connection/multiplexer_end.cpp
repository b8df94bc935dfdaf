// SPDX-License-Identifier: Apache-2.0
/// The end of a connection: closed by both ends, broken off, or lost.
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/connection/multiplexer.hpp"
#include "lib/core/log.hpp"

namespace udtcat::connection {
namespace {

Error error_of(const Close& close, const Endpoint& peer) {
  const std::string who = "peer " + peer.to_string();
  switch (close.reason) {
    case CloseReason::done:
      break;
    case CloseReason::interrupted:
      return {Errc::peer_interrupted, who + " was interrupted", close.text};
    case CloseReason::tampered:
    case CloseReason::protocol_violated:
      return {Errc::peer_reports_tampering, who + " broke off", close.text};
    case CloseReason::failed:
      return {Errc::connection_broken, who + " broke off", close.text};
  }
  return {Errc::connection_broken, who + " closed the connection", "before the streams had ended"};
}

/// The reason says already that it was an interruption.
std::string text_for_peer(const Error& error) {
  return error.code == Errc::interrupted ? error.cause : error.message();
}

CloseReason reason_of(Errc code) {
  switch (code) {
    case Errc::interrupted:
      return CloseReason::interrupted;
    case Errc::tampered:
      return CloseReason::tampered;
    case Errc::protocol_violated:
      return CloseReason::protocol_violated;
    default:
      return CloseReason::failed;
  }
}

}  // namespace

void Multiplexer::on_closed(ClosedHandler handler) {
  on_closed_ = std::move(handler);
  if (closed_unreported_) report(*std::exchange(closed_unreported_, std::nullopt));
}

void Multiplexer::close() {
  if (state_ != State::open) return;
  state_ = State::closing;
  const Error interrupted{Errc::interrupted, "the connection was closed", "before the stream had ended"};
  while (!streams_.empty()) streams_.begin()->second.stream->reset(ResetCause::interrupted, interrupted);
  send_close();
}

/// Composes our CLOSE behind everything said so far, past the limit on blocks in flight if need be.
void Multiplexer::send_close() {
  const bool breaking = state_ == State::breaking;
  report_if_due(std::chrono::nanoseconds(0));
  close_deadline_ = now() + (breaking ? std::chrono::seconds(kBreakOffDrain) : kCloseWait);
  writer_.queue({kSessionStream, breaking ? Close{reason_of(broken_by_->code), text_for_peer(*broken_by_)}
                                          : Close{CloseReason::done, {}}});
  arm_tick();
  while (writer_.has_control())
    if (!send_block(BlockWriter::Content::control, session_->next_block_bytes())) break;
  note_close_sent();
}

/// Without a buffer the CLOSE goes out later, from pump(): the transport gives one back with each block it takes.
void Multiplexer::note_close_sent() {
  if (state_ != State::open && !writer_.has_control()) closes_ = close_received() ? Closes::both : Closes::sent;
}

void Multiplexer::on_close_frame(const Close& close) {
  closes_ = close_sent() ? Closes::both : Closes::received;
  if (close.reason != CloseReason::done || !streams_.empty()) return break_off(error_of(close, peer_), false);
  if (state_ == State::open) {
    state_ = State::closing;
    send_close();
  }
  finish_when_agreed();
}

void Multiplexer::finish_when_agreed() {
  if (!close_sent() || !session_->all_written()) return;
  if (state_ == State::breaking) return end(tl::unexpected(*broken_by_), kBreakOffDrain);
  // Our CLOSE need not be acknowledged: to the peer the end of the link says the same. A lossy path might lose both.
  const bool lossless = session_->stats().packets_lost == 0;
  if (close_received()) end({}, lossless ? std::chrono::seconds(0) : kBreakOffDrain);
}

void Multiplexer::abort(const Error& reason) { break_off(reason, true); }

/// Fails every stream and ends, after telling the peer why where that can still help.
void Multiplexer::break_off(Error error, bool tell_peer) {
  if (state_ == State::breaking || state_ == State::over) return;
  // Everything was receipted both ways: what happens to the link now takes nothing away.
  if (state_ == State::closing && close_sent() && streams_.empty() && error.code != Errc::tampered) return end({}, {});
  core::log().debug("connection to {}: {}", peer_.to_string(), error.message());
  while (!streams_.empty()) streams_.begin()->second.stream->fail(error);
  if (!tell_peer || close_sent()) return end(tl::unexpected(std::move(error)), {});
  state_ = State::breaking;
  broken_by_ = std::move(error);
  send_close();
}

void Multiplexer::end(Status how, std::chrono::milliseconds drain) {
  if (state_ == State::over) return;
  state_ = State::over;
  last_here_ = stats_here();
  session_->close(drain);
  tick_.cancel();
  if (on_closed_)
    report(std::move(how));
  else
    closed_unreported_ = std::move(how);
}

void Multiplexer::report(Status how) {
  boost::asio::post(io_, lifetime_.guard([handler = on_closed_, how = std::move(how)] { handler(how); }));
}

}  // namespace udtcat::connection
