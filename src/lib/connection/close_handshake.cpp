// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/close_handshake.hpp"

#include <string>
#include <utility>

namespace udtcat::connection {
namespace {

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

void CloseHandshake::break_off(Error error) {
  state_ = State::breaking;
  error_ = std::move(error);
}

Close CloseHandshake::begin(TimePoint now) {
  deadline_ = now + (is_breaking() ? std::chrono::seconds(kBreakOffDrain) : kCloseWait);
  return is_breaking() ? Close{reason_of(error_->code), text_for_peer(*error_)} : Close{CloseReason::done, {}};
}

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

}  // namespace udtcat::connection
